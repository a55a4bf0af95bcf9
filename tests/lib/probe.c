/*
 * The tests' eye and hand where a shell has none: one static program, inside containers and out.
 *
 *   probe syscall NAME [NUMBER...]  calls it; prints "ok RESULT" or the name of the error; NAME
 *                                   may be a number
 *   probe keyring                   prints what the session keyring says of itself
 *   probe console SOCKET            serves a console socket: prints what was received on standard
 *                                   error, then copies between the terminal and standard in/output
 *   probe reopen PATH               opens PATH for writing by way of a held descriptor
 *   probe listen PATH               a socket at PATH, whose one place to wait is taken for good
 *   probe cut|change BUNDLE ROOT ID
 *                                   creates (cut) or runs (change) a container with $AGENTRT from
 *                                   the good config.json of BUNDLE, cut off before every byte, or
 *                                   with one byte changed; prints what went wrong
 *   probe broken BUNDLE ROOT ID FILE...
 *                                   creates one from each FILE.json, which must be refused with the
 *                                   text in FILE.expect and leave nothing; likewise
 *   probe abstract-listen NAME      a listening socket in the abstract namespace, until killed
 *   probe abstract-connect NAME     connects to it: nothing, or the name of the error
 *   probe agent SOCKET              a seccomp agent: see agent.h
 *   probe seize STOP                attaches as a debugger to every process that appears, until
 *                                   there is a file STOP; prints the names of those that it got
 *   probe rob STOP                  the same, and prints what each holds: descriptors from 3 on,
 *                                   permitted capabilities, environment
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include <linux/keyctl.h>

static const struct {
    const char *name;
    long nr;
} syscalls[] = {
    { "clone3", SYS_clone3 },
    { "execveat", SYS_execveat },
    { "fchmod", SYS_fchmod },
    { "futex", SYS_futex },
    { "geteuid", SYS_geteuid },
    { "getppid", SYS_getppid },
    { "getpriority", SYS_getpriority },
    { "io_uring_setup", SYS_io_uring_setup },
    { "ioprio_get", SYS_ioprio_get },
    { "kcmp", SYS_kcmp },
    { "keyctl", SYS_keyctl },
    { "mount", SYS_mount },
    { "personality", SYS_personality },
    { "prctl", SYS_prctl },
    { "ptrace", SYS_ptrace },
    { "sched_getscheduler", SYS_sched_getscheduler },
    { "setsockopt", SYS_setsockopt },
    { "shmget", SYS_shmget },
    { "socket", SYS_socket },
    { "splice", SYS_splice },
    { "sync", SYS_sync },
    { "unshare", SYS_unshare },
    { "userfaultfd", SYS_userfaultfd },
};

static int say (long result)
{
    if (result >= 0)
        (void)printf ("ok %ld\n", result);
    else
        (void)printf ("%s\n", strerrorname_np (errno));
    return 0;
}

static int call (int argc, char **argv)
{
    unsigned long a[6] = { 0 };

    for (int i = 1; i < argc && i < 7; i++)
        a[i - 1] = strtoul (argv[i], NULL, 0);
    for (size_t i = 0; i < sizeof syscalls / sizeof *syscalls; i++) {
        if (strcmp (syscalls[i].name, argv[0]) == 0)
            return say (syscall (syscalls[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]));
    }
    if (argv[0][0] < '0' || argv[0][0] > '9')
        return 2;
    return say (syscall (strtol (argv[0], NULL, 0), a[0], a[1], a[2], a[3], a[4], a[5]));
}

static int keyring (void)
{
    char text[256] = "";
    long n = syscall (SYS_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, text, sizeof text);

    if (n < 0)
        return say (n);
    return puts (text) < 0;
}

/* The path is opened twice: without access, then through the first descriptor for writing, which is
 * how CVE-2019-5736 got at the runtime's binary. */
static int reopen (const char *path)
{
    char via[64];
    int fd = open (path, O_PATH);

    if (fd < 0)
        return say (fd);
    (void)snprintf (via, sizeof via, "/proc/self/fd/%d", fd);
    return say (open (via, O_WRONLY));
}

static int receive (int conn)
{
    char payload[256];
    struct iovec iov = { payload, sizeof payload };
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE (sizeof (int) * 4)];
    } control = { 0 };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = recvmsg (conn, &msg, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = CMSG_FIRSTHDR (&msg);
    struct winsize size = { 0 };
    int fd;

    if (n < 1 || !c || c->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy (&fd, CMSG_DATA (c), sizeof fd);
    (void)ioctl (fd, TIOCGWINSZ, &size);
    (void)fprintf (stderr, "descriptors=%zu size=%dx%d\n",
                   (c->cmsg_len - CMSG_LEN (0)) / sizeof (int), size.ws_row, size.ws_col);
    return fd;
}

/* One read from FROM to TO; false at the end. */
static bool copy (int from, int to)
{
    char buffer[4096];
    ssize_t n = read (from, buffer, sizeof buffer);

    return n > 0 && write (to, buffer, (size_t)n) == n;
}

static int relay (int tty)
{
    struct pollfd in[] = { { tty, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };

    while (poll (in, 2, 30000) > 0) {
        if (in[0].revents && !copy (tty, STDOUT_FILENO))
            return 0;
        if (in[1].revents && !copy (STDIN_FILENO, tty))
            in[1].fd = -1;
    }
    return 1;
}

static int console (const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int s = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), conn, tty;

    if (strlen (path) >= sizeof address.sun_path)
        return 2;
    memcpy (address.sun_path, path, strlen (path));
    if (bind (s, (struct sockaddr *)&address, sizeof address) < 0 || listen (s, 1) < 0)
        return 2;
    conn = accept4 (s, NULL, NULL, SOCK_CLOEXEC);
    tty = conn < 0 ? -1 : receive (conn);
    return tty < 0 ? 3 : relay (tty);
}

#define PIDS 4194304 /* the most that a kernel can have */

/* Lines (or NUL-terminated strings) of /proc/PID/FILE that begin with PREFIX. */
static void print_file (long pid, const char *file, const char *prefix, int end)
{
    char path[64], *line = NULL;
    size_t size = 0;
    FILE *f;

    (void)snprintf (path, sizeof path, "/proc/%ld/%s", pid, file);
    f = fopen (path, "r");
    while (f && getdelim (&line, &size, end, f) > 0)
        if (*line && strncmp (line, prefix, strlen (prefix)) == 0)
            (void)printf ("%s %.*s\n", file, (int)strcspn (line, "\n"), line);
    free (line);
    if (f)
        (void)fclose (f);
}

static void rob (long pid)
{
    char path[64], target[256];
    DIR *dir;
    struct dirent *d;

    (void)snprintf (path, sizeof path, "/proc/%ld/fd", pid);
    dir = opendir (path);
    while (dir && (d = readdir (dir))) {
        ssize_t n = readlinkat (dirfd (dir), d->d_name, target, sizeof target);

        if (n > 0 && strtol (d->d_name, NULL, 10) > 2)
            (void)printf ("fd %s %.*s\n", d->d_name, (int)n, target);
    }
    if (dir)
        (void)closedir (dir);
    print_file (pid, "status", "CapPrm", '\n');
    print_file (pid, "environ", "", '\0');
}

static void seize_one (long pid, bool robs)
{
    char path[64], name[64] = "";
    FILE *f;

    if (ptrace (PTRACE_SEIZE, (pid_t)pid, NULL, NULL) < 0)
        return;
    (void)snprintf (path, sizeof path, "/proc/%ld/comm", pid);
    f = fopen (path, "r");
    (void)printf ("%s", f && fgets (name, sizeof name, f) ? name : "?\n");
    (void)fflush (stdout);
    if (f)
        (void)fclose (f);
    (void)ptrace (PTRACE_INTERRUPT, (pid_t)pid, NULL, NULL); /* only who is stopped can be let go */
    (void)waitpid ((pid_t)pid, NULL, __WALL);
    if (robs)
        rob (pid);
    (void)ptrace (PTRACE_DETACH, (pid_t)pid, NULL, NULL);
}

/* Each process is tried once, the moment it is first seen: that is before it has run much. */
static int seize (const char *stop, bool robs)
{
    static bool seen[PIDS];
    DIR *proc = opendir ("/proc");
    struct dirent *d;

    seen[0] = seen[1] = seen[getpid ()] = true;
    for (int turn = 0; proc && access (stop, F_OK) < 0; turn++) {
        rewinddir (proc);
        while ((d = readdir (proc))) {
            long pid = strtol (d->d_name, NULL, 10);

            if (pid <= 0 || pid >= PIDS || seen[pid])
                continue;
            seen[pid] = true;
            if (turn > 0)
                seize_one (pid, robs);
        }
        if (turn == 0)
            (void)puts ("up");
        (void)fflush (stdout);
    }
    return proc == NULL;
}

/* PATH is there once the place is taken. */
static int listen_full (const char *path)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int listener = socket (AF_UNIX, SOCK_STREAM, 0);
    int waiting = socket (AF_UNIX, SOCK_STREAM, 0);

    if (snprintf (addr.sun_path, sizeof addr.sun_path, "%s.new", path) >= (int)sizeof addr.sun_path)
        return 1;
    if (bind (listener, (const struct sockaddr *)&addr, sizeof addr) < 0 ||
        listen (listener, 0) < 0 ||
        connect (waiting, (const struct sockaddr *)&addr, sizeof addr) < 0 ||
        rename (addr.sun_path, path) < 0)
        return 1;
    return pause ();
}

/* ---- broken configs: thousands of runs, so neither a shell nor a copy for each ---- */

#define HANGS_AFTER_MS 10000
#define CONFIG_MAX     ((size_t)1024 * 1024)

struct mangle {
    char *runtime, *bundle, *root, *id;
    char pid_file[PATH_MAX];
    int config, out;
    char text[4096]; /* what the last run said */
    int status;      /* its exit status, 128+N, or 124 when it hung */
    unsigned long runs, wrong;
};

static int wait_or_kill (pid_t pid)
{
    struct pollfd p = { .fd = (int)syscall (SYS_pidfd_open, pid, 0), .events = POLLIN };
    bool hung = poll (&p, 1, HANGS_AFTER_MS) == 0;
    int status = 0;

    if (hung)
        (void)kill (pid, SIGKILL);
    (void)waitpid (pid, &status, 0);
    (void)close (p.fd);
    if (hung)
        return 124;
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static void run_runtime (struct mangle *m, const char *command)
{
    const char *argv[] = { m->runtime, "--root",     m->root,     command, "-b",
                           m->bundle,  "--pid-file", m->pid_file, m->id,   NULL };
    pid_t pid;
    ssize_t n;

    if (ftruncate (m->out, 0) < 0 || lseek (m->out, 0, SEEK_SET) < 0)
        exit (2);
    pid = fork ();
    if (pid == 0) {
        (void)dup2 (open ("/dev/null", O_RDONLY), 0);
        (void)dup2 (m->out, 1);
        (void)dup2 (m->out, 2);
        (void)execv (m->runtime, (char *const *)(uintptr_t)argv);
        _exit (127);
    }
    m->runs++;
    m->status = wait_or_kill (pid);
    n = pread (m->out, m->text, sizeof m->text - 1, 0);
    m->text[n > 0 ? n : 0] = '\0';
}

static bool is_one_line (const char *text)
{
    const char *end = strchr (text, '\n');

    return end && end[1] == '\0';
}

static void wrong (struct mangle *m, const char *what, size_t at, const char *why)
{
    m->wrong++;
    (void)printf ("%s %zu: %s: status %d: %s\n", what, at, why, m->status, m->text);
}

static void set_config (const struct mangle *m, const char *text, size_t len)
{
    if (pwrite (m->config, text, len, 0) != (ssize_t)len || ftruncate (m->config, (off_t)len) < 0)
        exit (2);
}

static void cut_everywhere (struct mangle *m, const char *good, size_t len)
{
    (void)good;
    while (len-- > 0) {
        if (ftruncate (m->config, (off_t)len) < 0)
            exit (2);
        run_runtime (m, "create");
        if (m->status != 1 || !is_one_line (m->text))
            wrong (m, "cut at", len, "not refused with one line");
    }
}

static void change_everywhere (struct mangle *m, const char *good, size_t len)
{
    static const char bytes[] = "\"{0, ]-\xff\\\x01";

    for (size_t n = 0; n < len; n += 5) {
        if (pwrite (m->config, &bytes[n / 5 % (sizeof bytes - 1)], 1, (off_t)n) != 1)
            exit (2);
        run_runtime (m, "run");
        if (m->status >= 124)
            wrong (m, "byte", n, "a crash or a hang");
        if (pwrite (m->config, good + n, 1, (off_t)n) != 1)
            exit (2);
    }
}

/* The whole file; what is longer than a config may be counts as empty. */
static size_t read_whole (const char *path, char buf[CONFIG_MAX])
{
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread (fd, buf, CONFIG_MAX - 1, 0) : 0;

    (void)close (fd);
    buf[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static bool is_empty_folder (const char *path)
{
    DIR *d = opendir (path);
    const struct dirent *entry;
    bool found = false;

    while (d && (entry = readdir (d)))
        found = found || entry->d_name[0] != '.';
    if (d)
        (void)closedir (d);
    return !found;
}

static void try_broken (struct mangle *m, const char *file, char buf[CONFIG_MAX])
{
    size_t stem = strlen (file) - strlen ("json");
    char expect[PATH_MAX];
    size_t len = read_whole (file, buf);

    set_config (m, buf, len);
    run_runtime (m, "create");
    (void)snprintf (expect, sizeof expect, "%.*sexpect", (int)stem, file);
    len = read_whole (expect, buf);
    while (len > 0 && buf[len - 1] == '\n')
        buf[--len] = '\0';
    if (m->status != 1 || !is_one_line (m->text) || len == 0 || !strstr (m->text, buf))
        wrong (m, file, 0, buf);
    if (access (m->pid_file, F_OK) == 0 || !is_empty_folder (m->root))
        wrong (m, file, 0, "it left something behind");
}

static int mangle (int argc, char **argv)
{
    static char good[CONFIG_MAX];
    struct mangle m = { .runtime = getenv ("AGENTRT"),
                        .bundle = argv[1],
                        .root = argv[2],
                        .id = argv[3],
                        .out = (int)syscall (SYS_memfd_create, "out", 0U) };
    char path[PATH_MAX];
    size_t len;

    (void)snprintf (path, sizeof path, "%s/config.json", m.bundle);
    (void)snprintf (m.pid_file, sizeof m.pid_file, "%s/pid", m.bundle);
    len = read_whole (path, good);
    m.config = open (path, O_RDWR | O_CLOEXEC);
    if (!m.runtime || len == 0 || m.config < 0 || m.out < 0)
        return 2;
    if (strcmp (argv[0], "cut") == 0)
        cut_everywhere (&m, good, len);
    else if (strcmp (argv[0], "change") == 0)
        change_everywhere (&m, good, len);
    else
        for (int i = 4; i < argc; i++)
            try_broken (&m, argv[i], good);
    if (argc == 4)
        set_config (&m, good, len);
    (void)printf ("%lu runs, %lu wrong\n", m.runs, m.wrong);
    return m.wrong > 0;
}

static bool is_mangling (int argc, char **argv)
{
    return (argc == 5 && (strcmp (argv[1], "cut") == 0 || strcmp (argv[1], "change") == 0)) ||
           (argc >= 6 && strcmp (argv[1], "broken") == 0);
}

/* NAME has no file: it belongs to the network namespace. */
static int abstract (const char *name, bool serve)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int sock = socket (AF_UNIX, SOCK_STREAM, 0);
    int len = snprintf (addr.sun_path + 1, sizeof addr.sun_path - 1, "%s", name);
    socklen_t size = (socklen_t)offsetof (struct sockaddr_un, sun_path) + 1 + (socklen_t)len;

    if (serve)
        return bind (sock, (const struct sockaddr *)&addr, size) < 0 || listen (sock, 8) < 0 ||
               pause ();
    if (connect (sock, (const struct sockaddr *)&addr, size) < 0)
        (void)puts (strerrorname_np (errno));
    return 0;
}

int main (int argc, char **argv)
{
    if (is_mangling (argc, argv))
        return mangle (argc - 1, argv + 1);
    if (argc >= 3 && strcmp (argv[1], "syscall") == 0)
        return call (argc - 2, argv + 2);
    if (argc == 2 && strcmp (argv[1], "keyring") == 0)
        return keyring ();
    if (argc == 3 && strcmp (argv[1], "console") == 0)
        return console (argv[2]);
    if (argc == 3 && strcmp (argv[1], "reopen") == 0)
        return reopen (argv[2]);
    if (argc == 3 && strcmp (argv[1], "listen") == 0)
        return listen_full (argv[2]);
    if (argc == 3 && strcmp (argv[1], "abstract-listen") == 0)
        return abstract (argv[2], true);
    if (argc == 3 && strcmp (argv[1], "abstract-connect") == 0)
        return abstract (argv[2], false);
    if (argc == 3 && strcmp (argv[1], "agent") == 0)
        return agent (argv[2]);
    if (argc == 3 && strcmp (argv[1], "seize") == 0)
        return seize (argv[2], false);
    if (argc == 3 && strcmp (argv[1], "rob") == 0)
        return seize (argv[2], true);
    (void)fputs ("probe: see the top of tests/lib/probe.c\n", stderr);
    return 2;
}
