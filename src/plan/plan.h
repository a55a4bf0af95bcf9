#pragma once
/*
 * The plan: everything that a container's start will do, decided before clone3, as numbers, strings
 * and pointers into immutable documents.
 *
 * Made by plan_build() from the effective config; read by the prepare_ and step_ functions of ns/,
 * mnt/, cgroup/, harden/, tty/ and hook/ and by explain. Owns no descriptor and changes nothing.
 * Everything it points to lives in one arena that outlives the run.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"
#include "policy/guard.h"
#include "spec/mntopt.h"
#include "spec/unitprop.h"

/* ---- namespaces ---- */
enum plan_ns_kind {
    NS_USER,
    NS_MOUNT,
    NS_PID,
    NS_NET,
    NS_IPC,
    NS_UTS,
    NS_CGROUP,
    NS_TIME,
    NS_COUNT
};
enum plan_ns_mode { NS_INHERIT, NS_MAKE, NS_JOIN };

struct plan_ns {
    enum plan_ns_mode mode;
    const char *path; /* NS_JOIN: the namespace file on the host */
};

/* Moving is done, and undone, by a table of fixed size. */
#define PLAN_NET_DEVICES_MAX 64

struct plan_sysctl {
    const char *key;  /* as the config spells it, for messages */
    const char *path; /* below /proc/sys, '/' separated: "net/ipv4/ip_forward" */
    const char *value;
};

struct plan_time_offset {
    bool set;
    int64_t secs;
    uint32_t nanosecs;
};

/* ---- the file system; struct plan_mount is spec/mntopt.h's ---- */
struct plan_device {
    const char *path; /* absolute, in the container */
    mode_t type;      /* S_IFCHR, S_IFBLK or S_IFIFO */
    uint32_t major, minor;
    mode_t mode; /* permission bits */
    uid_t uid;   /* container ids */
    gid_t gid;
    bool is_default; /* one of the OCI default devices */
};

/* ---- the process: the same for create and exec ---- */
enum plan_cap_set {
    CAPS_BOUNDING,
    CAPS_EFFECTIVE,
    CAPS_INHERITABLE,
    CAPS_PERMITTED,
    CAPS_AMBIENT,
    CAPS_COUNT
};

struct plan_rlimit {
    int resource; /* RLIMIT_* */
    const char *name;
    uint64_t soft, hard;
};

struct plan_process {
    char *const *args; /* NULL-terminated, args[0] present */
    char **env;        /* NULL-terminated, no name twice */
    char **home_slot;  /* where the child puts HOME; NULL: the config has it */
    const char *path;  /* value of PATH in env, or NULL */
    const char *cwd;
    uid_t uid;
    gid_t gid;
    const gid_t *gids; /* ascending */
    size_t n_gids;
    bool keep_groups; /* the caller's groups stay, nothing sets others */
    mode_t umask;
    bool terminal;
    uint16_t rows, cols;       /* 0: leave */
    uint64_t caps[CAPS_COUNT]; /* bit N = capability number N */
    uint64_t caps_withheld;    /* asked for, but the caller has them not to give */
    uint64_t ambient_withheld; /* asked to be ambient, but not both permitted and inheritable */
    bool no_new_privs;
    const struct plan_rlimit *rlimits;
    size_t n_rlimits;
    bool raises_rlimits; /* a hard limit is above the caller's own */
    bool has_oom_score_adj;
    int oom_score_adj;
    const char *apparmor, *selinux; /* NULL: leave */
    const struct oci_scheduler *scheduler;
    const struct oci_io_priority *io_priority;
    const struct oci_exec_cpu_affinity *cpu_affinity; /* exec only */
};

/* The systemd unit that holds the container's cgroup. */
struct plan_unit {
    const char *name;       /* "docker-ID.scope" */
    const char *slice;      /* "a-b.slice" */
    const char *slice_path; /* its cgroup below the manager's: "/a.slice/a-b.slice"; "" the root */
    const char *subgroup;   /* cgroup below the unit's; "" none; NULL: nobody said */
    bool of_user;           /* the caller's own manager makes it, not the system's */
    const struct unitprop *props; /* asked for by annotations */
    size_t n_props;
};

struct plan_cgroup {
    const char *path; /* as given in cgroupsPath, or "/ID"; '..' refused before it comes here */
    bool given;       /* cgroupsPath was in the config */
    const struct oci_linux_resources *resources; /* NULL: none asked */
    bool own_ns;                                 /* container gets its own cgroup namespace */
    bool disabled;   /* --cgroup-manager disabled: none is made or entered */
    bool delegated;  /* it becomes the container's user's */
    uid_t owner_uid; /* that user, in the host's ids */
    gid_t owner_gid;
    const struct plan_unit *unit; /* NULL: agentrt itself makes the cgroup */
};

struct plan {
    const char *id;
    const char *bundle;              /* absolute */
    const struct oci_config *config; /* the effective config */
    bool is_exec;                    /* joins a running container: no mounts, no hooks */
    bool host_root_is_outside; /* the host's uid 0 has no id in the container's user namespace */
    bool is_rootless;          /* the caller is not root of the initial user namespace */
    bool setgroups_denied;     /* the user namespace forbids setgroups */
    const char *pid_file;      /* NULL: none */
    const char *pidfd_socket;  /* NULL: none */

    struct plan_ns ns[NS_COUNT];
    bool
        own_network; /* when init is let go, an empty network namespace takes the place of NS_NET */
    struct plan_idmaps idmaps;
    struct plan_time_offset boottime, monotonic;
    const char *hostname, *domainname;
    const struct plan_sysctl *sysctls;
    size_t n_sysctls;

    const struct oci_net_device *net_devices; /* of the host, for NS_NET */
    size_t n_net_devices;

    const char *rootfs; /* absolute host path */
    bool idmap_root;    /* it is seen through the ids of the new user namespace */
    bool rootfs_readonly, rootfs_nosuid, rootfs_nodev;
    unsigned long rootfs_propagation; /* MS_* | MS_REC, 0 = leave private */
    const struct plan_mount *mounts;
    size_t n_mounts;
    const struct guard_findings *guard; /* what was seen of the binds' sources; NULL: not asked */
    const struct plan_device *devices;
    size_t n_devices;
    const char *const *masked, *const *readonly; /* absolute */
    size_t n_masked, n_readonly;
    const char *mount_label;
    const char *label_option; /* how it is given: "context" or one of its like; NULL: that */
    bool no_pivot;

    struct plan_process process;
    bool new_keyring;
    bool has_personality;
    unsigned long personality;
    const struct oci_memory_policy *memory_policy;
    bool seccomp_floor;                      /* the strict filter stands below the profile */
    const struct oci_linux_seccomp *seccomp; /* NULL: no profile */
    bool seccomp_names;                      /* every call that it names has to be known */
    struct plan_cgroup cgroup;
    const struct oci_hooks *hooks; /* NULL: none */
    unsigned int preserve_fds;     /* descriptors 3.. that the process keeps, LISTEN_FDS included */
};
