#pragma once
/*
 * What the strict filter must answer, told independently of src/harden/strict.def: Docker's list of
 * allowed calls without those that strict denies, and each filtered call as a plain function with
 * the kernel's own names. Numbers come from libseccomp.
 */
#include <arpa/inet.h>
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ERRNO(n) (SECCOMP_RET_ERRNO | (uint32_t)(n))
#define ALLOW    SECCOMP_RET_ALLOW

/* ---- calls that are denied whatever their arguments ---- */

struct denied {
    int code;
    const char *names; /* a space before and after each */
};

static const struct denied denied[] = {
    { EPERM, " ptrace process_vm_readv process_vm_writev process_mrelease process_madvise kcmp "
             "pidfd_getfd name_to_handle_at open_by_handle_at fanotify_init fanotify_mark "
             "memfd_secret adjtimex clock_adjtime clock_settime settimeofday sched_setscheduler "
             "sched_setparam sched_setattr ioprio_set " },
    { EPERM, " unshare setns mount umount2 pivot_root chroot move_mount open_tree open_tree_attr "
             "fsopen fsconfig fsmount fspick mount_setattr sethostname setdomainname bpf "
             "perf_event_open kexec_load kexec_file_load init_module finit_module delete_module "
             "create_module query_module get_kernel_syms swapon swapoff reboot acct quotactl "
             "quotactl_fd syslog lookup_dcookie nfsservctl uselib sysfs ustat _sysctl iopl ioperm "
             "vhangup move_pages migrate_pages mbind get_mempolicy lsm_get_self_attr "
             "lsm_set_self_attr lsm_list_modules " },
    { ENOSYS, " clone3 io_setup io_submit io_cancel io_destroy io_getevents io_pgetevents "
              "modify_ldt remap_file_pages mincore cachestat uretprobe uprobe epoll_ctl_old "
              "epoll_wait_old futex_requeue futex_wait futex_wake futex_waitv mq_open mq_unlink "
              "mq_timedsend mq_timedreceive mq_notify mq_getsetattr statmount listmount listns "
              "execveat io_uring_setup io_uring_enter io_uring_register keyctl add_key "
              "request_key userfaultfd set_mempolicy set_mempolicy_home_node file_getattr "
              "file_setattr afs_syscall tuxcall security vserver getpmsg putpmsg " },
    { EINVAL, " splice tee vmsplice " },
    { 0, " sync syncfs " },
};

/* The name is one of the list's words. */
static inline bool has_word (const char *list, const char *name)
{
    char word[64];

    (void)snprintf (word, sizeof word, " %s ", name);
    return strstr (list, word) != NULL;
}

static inline const struct denied *find_denied (const char *name)
{
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        if (has_word (denied[i].names, name))
            return &denied[i];
    return NULL;
}

/* ---- calls whose arguments decide ---- */

typedef uint32_t model_fn (const uint32_t *a);

static inline uint32_t model_socket (const uint32_t *a)
{
    uint32_t type = a[1] & 0xf;
    bool default_or_own = a[2] == 0 || a[2] == (type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP);

    switch (a[0]) {
    case AF_UNIX:
        return ALLOW;
    case AF_INET:
    case AF_INET6:
        if (type != SOCK_STREAM && type != SOCK_DGRAM)
            return ERRNO (EAFNOSUPPORT);
        return default_or_own ? ALLOW : ERRNO (EPROTONOSUPPORT);
    case AF_NETLINK:
        return a[2] == 0 ? ALLOW : ERRNO (EAFNOSUPPORT);
    default:
        return ERRNO (EAFNOSUPPORT);
    }
}

static inline uint32_t model_socketpair (const uint32_t *a)
{
    return a[0] == AF_UNIX ? ALLOW : ERRNO (EAFNOSUPPORT);
}

static inline uint32_t model_clone (const uint32_t *a)
{
    const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

    return a[0] & namespaces ? ERRNO (EPERM) : ALLOW;
}

static inline bool is_one_of (uint32_t v, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}
#define IS_ONE_OF(v, list) is_one_of ((v), (list), sizeof (list) / sizeof *(list))

/* struct termios2 is in a header that does not go with the C library's own. */
#define TERMIOS2(dir, nr) _IOC ((dir), 'T', (nr), 44)

static const uint32_t model_ioctls[] = {
    TCGETS,
    TCSETS,
    TCSETSW,
    TCSETSF,
    TERMIOS2 (_IOC_READ, 0x2a),
    TCSBRK,
    TCSBRKP,
    TCXONC,
    TCFLSH,
    TERMIOS2 (_IOC_WRITE, 0x2b),
    TIOCEXCL,
    TIOCNXCL,
    TIOCSCTTY,
    TIOCNOTTY,
    TERMIOS2 (_IOC_WRITE, 0x2c),
    TIOCGPGRP,
    TIOCSPGRP,
    TIOCOUTQ,
    TIOCGWINSZ,
    TERMIOS2 (_IOC_WRITE, 0x2d),
    TIOCSWINSZ,
    TIOCPKT,
    TIOCGSID,
    TIOCGPTN,
    TIOCSPTLCK,
    TIOCGPTPEER,
    FIONREAD,
    FIONBIO,
    FIOASYNC,
    FIOCLEX,
    FIONCLEX,
    FIGETBSZ,
    FICLONE,
    FICLONERANGE,
    FIDEDUPERANGE,
    FS_IOC_GETFLAGS,
    0xc020660b /* FS_IOC_FIEMAP */,
    0x8905 /* SIOCATMARK */,
    0x8906 /* SIOCGSTAMP */,
    SIOCGIFNAME,
    SIOCGIFCONF,
    SIOCGIFFLAGS,
    SIOCGIFADDR,
    SIOCGIFDSTADDR,
    SIOCGIFBRDADDR,
    SIOCGIFNETMASK,
    SIOCGIFMETRIC,
    SIOCGIFMTU,
    SIOCGIFHWADDR,
    SIOCGIFINDEX,
    SIOCGIFTXQLEN,
};

static inline uint32_t model_ioctl (const uint32_t *a)
{
    return IS_ONE_OF (a[1], model_ioctls) ? ALLOW : ERRNO (ENOTTY);
}

static const uint32_t model_prctls[] = {
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_GET_DUMPABLE,
    PR_SET_DUMPABLE,
    PR_GET_KEEPCAPS,
    PR_SET_KEEPCAPS,
    PR_SET_NAME,
    PR_GET_NAME,
    PR_GET_SECCOMP,
    PR_SET_SECCOMP,
    PR_CAPBSET_READ,
    PR_CAPBSET_DROP,
    PR_GET_SECUREBITS,
    PR_SET_TIMERSLACK,
    PR_GET_TIMERSLACK,
    PR_SET_CHILD_SUBREAPER,
    PR_GET_CHILD_SUBREAPER,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,
    PR_CAP_AMBIENT,
    PR_SVE_SET_VL,
    PR_SVE_GET_VL,
    PR_GET_SPECULATION_CTRL,
    PR_PAC_RESET_KEYS,
    PR_SET_TAGGED_ADDR_CTRL,
    PR_GET_TAGGED_ADDR_CTRL,
    PR_PAC_SET_ENABLED_KEYS,
    PR_PAC_GET_ENABLED_KEYS,
    63, /* PR_SME_SET_VL, not in every libc's header */
    64, /* PR_SME_GET_VL */
    65, /* PR_SET_MDWE */
    66, /* PR_GET_MDWE */
    74, /* PR_GET_SHADOW_STACK_STATUS */
    75, /* PR_SET_SHADOW_STACK_STATUS */
    76, /* PR_LOCK_SHADOW_STACK_STATUS */
    PR_SET_VMA,
    0x41555856, /* PR_GET_AUXV */
};

static inline uint32_t model_prctl (const uint32_t *a)
{
    return IS_ONE_OF (a[0], model_prctls) ? ALLOW : ERRNO (EINVAL);
}

static inline uint32_t model_personality (const uint32_t *a)
{
    return a[0] == PER_LINUX || a[0] == UINT32_MAX ? ALLOW : ERRNO (EPERM);
}

static inline uint32_t model_futex (const uint32_t *a)
{
    static const uint32_t ops[] = {
        FUTEX_WAIT,       FUTEX_WAKE,        FUTEX_REQUEUE,     FUTEX_CMP_REQUEUE,
        FUTEX_WAKE_OP,    FUTEX_LOCK_PI,     FUTEX_LOCK_PI2,    FUTEX_UNLOCK_PI,
        FUTEX_TRYLOCK_PI, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET,
    };

    return IS_ONE_OF (a[1] & 0x7f, ops) ? ALLOW : ERRNO (ENOSYS);
}

static const uint32_t model_socket_options[] = {
    SO_TIMESTAMP,    SO_PASSSEC,       SO_TIMESTAMPNS,        SO_TIMESTAMPING,
    SO_RXQ_OVFL,     SO_PEEK_OFF,      SO_BUSY_POLL,          SO_MAX_PACING_RATE,
    SO_INCOMING_CPU, SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW,    SO_TIMESTAMPING_NEW,
    SO_RCVTIMEO_NEW, SO_SNDTIMEO_NEW,  76 /* SO_PASSPIDFD */,
};

static inline bool option_passes (uint32_t level, uint32_t option)
{
    switch (level) {
    case SOL_SOCKET:
        return option < SO_ATTACH_FILTER || IS_ONE_OF (option, model_socket_options);
    case SOL_TCP:
        return option < TCP_ULP;
    case SOL_IP:
        return option < 64;
    case SOL_IPV6:
        return option < 128 && option != 64 && option != 65;
    case IPPROTO_UDP:
        return option == 1 || (option > 100 && option < 105);
    case SOL_NETLINK:
        return true;
    default:
        return false;
    }
}

static inline uint32_t model_setsockopt (const uint32_t *a)
{
    return option_passes (a[1], a[2]) ? ALLOW : ERRNO (ENOPROTOOPT);
}

static inline uint32_t model_mode (uint32_t mode)
{
    uint32_t kind = mode & S_IFMT;
    bool passes = kind == 0 || kind == S_IFREG || kind == S_IFIFO || kind == S_IFSOCK;

    return passes ? ALLOW : ERRNO (EPERM);
}

static inline uint32_t model_mknod (const uint32_t *a)
{
    return model_mode (a[1]);
}

static inline uint32_t model_mknodat (const uint32_t *a)
{
    return model_mode (a[2]);
}

/* What is tried of each: every combination of the values in the ranges, other arguments zero. */
struct range {
    uint32_t first, last; /* behind the first range, { 0, 0 } ends the list */
};

#define RANGES 32
struct span {
    unsigned int arg;
    struct range ranges[RANGES];
};

#define SPANS 3
struct filtered {
    const char *name;
    model_fn *model;
    size_t n;
    struct span spans[SPANS];
};

#define ONE(v)                                                                                     \
    {                                                                                              \
        (v), (v)                                                                                   \
    }
#define BIT(n) ONE (1U << (n))
#define HIGH_BITS                                                                                  \
    BIT (9), BIT (10), BIT (11), BIT (12), BIT (13), BIT (14), BIT (15), BIT (16), BIT (17),       \
        BIT (18), BIT (19), BIT (20), BIT (21), BIT (22), BIT (23), BIT (24), BIT (25), BIT (26),  \
        BIT (27), BIT (28), BIT (29), BIT (30), BIT (31)
#define MODES                                                                                      \
    { 0, 0x3ff }, { 0x1000, 0x1200 }, { 0x2000, 0x2200 }, { 0x4000, 0x4200 }, { 0x6000, 0x6200 },  \
        { 0x8000, 0x8200 }, { 0xa000, 0xa200 }, { 0xc000, 0xc200 }, ONE (0xe1a4), ONE (0xf1a4),    \
        ONE (0x11000), ONE (0x12000)

static const struct filtered filtered[] = {
    { "socket",
      model_socket,
      3,
      { { 0, { { 0, 63 }, ONE (UINT32_MAX) } },
        { 1, { { 0, 16 }, { 0x800, 0x806 }, { 0x80000, 0x80006 }, ONE (0x80801) } },
        { 2, { { 0, 20 }, { 58, 58 }, { 132, 136 }, { 255, 263 } } } } },
    { "socketpair", model_socketpair, 1, { { 0, { { 0, 300 }, ONE (UINT32_MAX) } } } },
    { "clone",
      model_clone,
      1,
      { { 0, { { 0, 0x1ff }, HIGH_BITS, ONE (0x3d0f00), ONE (0x1200011), ONE (0x10000011) } } } },
    { "ioctl",
      model_ioctl,
      1,
      { { 1,
          { { 0, 0x1ff },
            { 0x5300, 0x55ff },
            { 0x8800, 0x8aff },
            { 0x6600, 0x66ff },
            { 0xc0200000, 0xc0200040 },
            { 0x80045420, 0x80045440 },
            { 0x40045420, 0x40045440 },
            { 0x802c5420, 0x802c5430 },
            { 0x402c5420, 0x402c5430 },
            { 0x80086600, 0x8008660f },
            { 0x40086600, 0x4008660f },
            { 0xc0206600, 0xc020660f },
            { 0x40049400, 0x4004940f },
            { 0x40209400, 0x4020940f },
            { 0xc0189430, 0xc018943f },
            { 0xc0045877, 0xc0045878 },
            { 0x4b00, 0x4bff },
            { 0x5600, 0x56ff },
            { 0xae00, 0xaeff },
            ONE (UINT32_MAX) } } } },
    { "prctl",
      model_prctl,
      1,
      { { 0,
          { { 0, 300 },
            ONE (0x59616d61) /* PR_SET_PTRACER */,
            ONE (UINT32_MAX),
            { 0x53564d40, 0x53564d42 },
            { 0x41555855, 0x41555857 } } } } },
    { "personality",
      model_personality,
      1,
      { { 0, { { 0, 300 }, HIGH_BITS, ONE (0x20008), ONE (UINT32_MAX), ONE (UINT32_MAX - 1) } } } },
    { "futex", model_futex, 1, { { 1, { { 0, 0x3ff }, HIGH_BITS } } } },
    { "setsockopt",
      model_setsockopt,
      2,
      { { 1, { { 0, 18 }, { 40, 42 }, { 255, 290 }, ONE (UINT32_MAX) } },
        { 2, { { 0, 300 }, HIGH_BITS, ONE (UINT32_MAX) } } } },
    { "mknod", model_mknod, 1, { { 1, { MODES } } } },
    { "mknodat", model_mknodat, 1, { { 2, { MODES } } } },
};

static inline const struct filtered *find_filtered (const char *name)
{
    for (size_t i = 0; i < sizeof filtered / sizeof *filtered; i++)
        if (strcmp (filtered[i].name, name) == 0)
            return &filtered[i];
    return NULL;
}
