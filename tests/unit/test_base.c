/* base/: numbers, strings, and files by descriptor in a real temporary folder. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/str.h"
#include "tap.h"

/* What the test itself needs to work. */
static void must (int r)
{
    if (r < 0) {
        perror ("test set-up");
        exit (EXIT_FAILURE);
    }
}

static void test_num (void)
{
    static const char *const bad[] = { "",   " 1",  "1 ",  "+1",
                                       "-1", "0x1", "1e3", "18446744073709551616" };
    struct err e = { 0 };
    uint64_t u = 7;
    int64_t i = 7;

    for (size_t k = 0; k < ARRAY_LEN (bad); k++)
        ok (num_u64 (bad[k], "--n", 0, UINT64_MAX, &u, &e) == -EINVAL && u == 7, "no u64: '%s'",
            bad[k]);
    ok (num_u64 ("18446744073709551615", "--n", 0, UINT64_MAX, &u, &e) == 0 && u == UINT64_MAX,
        "UINT64_MAX");
    ok (num_u64 ("11", "--n", 1, 10, &u, &e) == -EINVAL, "above the maximum");
    tap_is (e.msg, "--n: '11' is not a number from 1 to 10",
            "the message names the option and range");
    ok (num_i64 ("-9223372036854775808", "n", INT64_MIN, INT64_MAX, &i, &e) == 0 && i == INT64_MIN,
        "INT64_MIN");
    ok (num_i64 ("9223372036854775808", "n", INT64_MIN, INT64_MAX, &i, &e) == -EINVAL,
        "INT64_MAX + 1");
    ok (num_i64 ("--1", "n", -5, 5, &i, &e) == -EINVAL, "two signs");
    ok (num_i64 ("-", "n", -5, 5, &i, &e) == -EINVAL, "a sign alone");
}

static void test_size (void)
{
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {
        { "-1", -1 },
        { "0", 0 },
        { "1024", 1024 },
        { "64m", 67108864 },
        { "64MB", 67108864 },
        { "64MiB", 67108864 },
        { "2K", 2048 },
        { "1.5g", 1610612736 },
        { "0.5k", 512 },
        { "3b", 3 },
        { "1 g", 1073741824 },
        { "1t", 1099511627776 },
        { "9223372036854775807", INT64_MAX },
    };
    static const char *const bad[] = { "",
                                       "-2",
                                       "m",
                                       "1.m",
                                       "1x",
                                       "1mm",
                                       "+1",
                                       ".5m",
                                       "1ib",
                                       "64 ",
                                       "8192p",
                                       "9223372036854775808",
                                       "99999999999999999999999999",
                                       "1.0000000000g" };
    struct err e = { 0 };
    int64_t n;

    for (size_t k = 0; k < ARRAY_LEN (good); k++) {
        n = -7;
        ok (num_size (good[k].text, "--memory", &n, &e) == 0 && n == good[k].want, "size '%s'",
            good[k].text);
    }
    for (size_t k = 0; k < ARRAY_LEN (bad); k++) {
        n = 7;
        ok (num_size (bad[k], "--memory", &n, &e) == -EINVAL && n == 7, "no size: '%s'", bad[k]);
    }
}

static void test_str (void)
{
    static const char *const list[] = { "a", "bc", NULL };
    static const char *const good[] = { "a", "0", "_x", "A-b.c_d+e", "a.." };
    static const char *const bad[] = { "",    ".",   "..", ".a",   "-a", "a/b",
                                       "a b", "a\n", "é",  "a;id", "%s" };
    char longest[257];

    ok (str_is_in ("bc", list) && !str_is_in ("b", list) && !str_is_in ("", list), "str_is_in");
    ok (str_has_prefix ("abc", "ab") && !str_has_prefix ("a", "ab"), "str_has_prefix");
    for (size_t i = 0; i < ARRAY_LEN (good); i++)
        ok (str_is_id (good[i]), "id '%s'", good[i]);
    for (size_t i = 0; i < ARRAY_LEN (bad); i++)
        ok (!str_is_id (bad[i]), "bad id %zu", i);
    memset (longest, 'x', sizeof longest);
    longest[256] = '\0';
    ok (!str_is_id (longest), "256 characters are too many");
    longest[255] = '\0';
    ok (str_is_id (longest), "255 characters are an id");
}

static mode_t mode_at (int dir, const char *path)
{
    struct stat st;

    return fstatat (dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode : 0;
}

/* A root with links of every kind beside an "outside" that must stay empty. */
static void test_resolve (int tmp)
{
    struct err e = { 0 };
    AUTO_FD host = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD root = -1;
    int fd = -1;

    (void)mkdirat (tmp, "root", 0755);
    (void)mkdirat (tmp, "outside", 0755);
    (void)mkdirat (tmp, "root/dir", 0755);
    root = openat (tmp, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must (symlinkat ("../../outside", root, "up"));
    must (symlinkat ("/dir", root, "abs"));
    must (symlinkat ("/nowhere", root, "dangling"));
    must (symlinkat ("/proc/self/root", root, "magic"));

    ok (fd_open (root, "up", O_PATH, FD_IN_ROOT, &e) == -ENOENT, "'..' stops at the root");
    ok (fd_open (root, "up", O_PATH, FD_BENEATH, &e) == -EXDEV, "leaving is refused beneath");
    tap_is (e.msg, "open 'up': invalid cross-device link (EXDEV)", "the message names the path");
    fd = fd_open (root, "abs", O_PATH, FD_IN_ROOT, &e);
    ok (fd >= 0 && (fcntl (fd, F_GETFD) & FD_CLOEXEC), "an absolute link stays inside; cloexec");
    (void)close (fd);
    ok (fd_open (host, "proc/self/root", O_PATH, FD_IN_ROOT, &e) == -ELOOP,
        "magic links are refused");
    fd = fd_open (AT_FDCWD, "/proc/self/ns/uts", O_RDONLY, FD_HOST, &e);
    ok (fd >= 0, "a namespace that the caller named opens");
    (void)close (fd);
}

static void test_mkdir_p (int tmp)
{
    AUTO_FD root = openat (tmp, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mode_t old = umask (077);
    struct err e = { 0 };
    int fd = -1;

    ok (fd_mkdir_p (root, "/a//b/./c/", 0751, &fd, &e) == 0, "mkdir -p of three");
    ok (mode_at (root, "a/b/c") == (S_IFDIR | 0751) && mode_at (root, "a") == (S_IFDIR | 0751),
        "the mode is exact whatever the umask");
    ok ((fcntl (fd, F_GETFL) & O_PATH) != 0, "an O_PATH descriptor comes back");
    (void)close (fd);
    ok (fd_mkdir_p (root, "/abs/new", 0755, &fd, &e) == 0 && mode_at (root, "dir/new") != 0,
        "an absolute link to a folder is followed inside");
    (void)close (fd);
    ok (fd_mkdir_p (root, "dangling", 0755, &fd, &e) == -ENOTDIR, "a dangling link is refused");
    ok (fd_mkdir_p (root, "dangling/x", 0755, &fd, &e) == -ENOTDIR, "also as a parent");
    ok (fd_mkdir_p (root, "up/x", 0755, &fd, &e) < 0, "a link out is refused");
    ok (mode_at (tmp, "outside/x") == 0 && mode_at (tmp, "nowhere") == 0,
        "nothing came up outside");
    ok (fd_mkdir_p (root, "n/../../x", 0755, &fd, &e) == -EXDEV, "'..' below a new folder");
    ok (fd_mkdir_p (root, "/", 0755, &fd, &e) == 0, "the root itself");
    (void)close (fd);

    ok (fd_make_file (root, "f/g/file", 0640, &fd, &e) == 0 &&
            mode_at (root, "f/g/file") == (S_IFREG | 0640),
        "a file with its parents, mode exact");
    (void)close (fd);
    ok (fd_make_file (root, "file", 0600, &fd, &e) == 0, "a file at the top");
    (void)close (fd);
    ok (fd_mkdir_p (root, "file/x", 0755, &fd, &e) == -ENOTDIR, "a file as a parent");
    ok (fd_make_file (root, "dangling", 0600, &fd, &e) == -ELOOP,
        "no file through a dangling link");
    ok (fd_make_file (root, "abs", 0600, &fd, &e) == 0, "what is there comes back");
    (void)close (fd);
    (void)umask (old);
}

/* Swaps root/swap between a folder and a link out of the root until killed. */
static pid_t start_swapper (int root)
{
    pid_t pid;

    (void)mkdirat (root, "swap", 0755);
    must (symlinkat ("../outside", root, "swap2"));
    pid = fork ();
    if (pid == 0)
        for (;;)
            (void)renameat2 (root, "swap", root, "swap2", RENAME_EXCHANGE);
    return pid;
}

static void test_race (int tmp)
{
    AUTO_FD root = openat (tmp, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = start_swapper (root);
    struct err e = { 0 };
    char path[64];
    AUTO_DIR *dir = NULL;
    int entries = 0;

    for (int i = 0; i < 500; i++) {
        int fd = -1;

        (void)snprintf (path, sizeof path, "swap/n%d/file", i);
        if (fd_make_file (root, path, 0600, &fd, &e) == 0)
            (void)close (fd);
    }
    (void)kill (pid, SIGKILL);
    (void)waitpid (pid, NULL, 0);
    dir = fdopendir (openat (tmp, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (readdir (dir))
        entries++;
    ok (entries == 2, "500 tries against a swapped folder make nothing outside");
}

/* 8 processes make the same deep path: all succeed (B54). */
static void test_concurrent_mkdir (int tmp)
{
    int failed = 0;

    for (int i = 0; i < 8; i++) {
        struct err e = { 0 };
        int fd = -1;

        if (fork () == 0)
            _exit (fd_mkdir_p (tmp, "c1/c2/c3/c4/c5/c6/c7/c8", 0700, &fd, &e) == 0 ? 0 : 1);
    }
    for (int i = 0; i < 8; i++) {
        int status = 1;

        (void)wait (&status);
        failed += status != 0;
    }
    ok (failed == 0, "the same folder made by eight at once is no error");
}

static void test_files (int tmp)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    char big[10000];
    char *text = NULL;
    size_t len = 0;

    memset (big, 'y', sizeof big);
    ok (fd_write_atomic (tmp, "big", big, sizeof big, 0604, &e) == 0, "write 10000 bytes");
    ok (mode_at (tmp, "big") == (S_IFREG | 0604), "with the given mode");
    ok (fd_read_file (tmp, "big", sizeof big, FD_BENEATH, &a, &text, &len, &e) == 0 &&
            len == sizeof big && memcmp (text, big, len) == 0 && text[len] == '\0',
        "read them back");
    ok (fd_read_file (tmp, "big", sizeof big - 1, FD_BENEATH, &a, &text, &len, &e) == -EFBIG,
        "one byte over the cap");
    ok (fd_write_atomic (tmp, "big", "z", 1, 0600, &e) == 0 &&
            fd_read_file (tmp, "big", 10, FD_BENEATH, &a, &text, NULL, &e) == 0 &&
            strcmp (text, "z") == 0,
        "replaced");
    ok (fd_write_atomic (tmp, "no/such", "z", 1, 0600, &e) == -ENOENT, "no folder");
    ok (fd_write_atomic (tmp, "root", "z", 1, 0600, &e) == -EISDIR, "a folder is in the way");
    must (mkfifoat (tmp, "fifo", 0600));
    ok (fd_read_file (tmp, "fifo", 10, FD_BENEATH, &a, &text, NULL, &e) == -EINVAL,
        "a FIFO is refused without blocking");
    ok (fd_read_file (AT_FDCWD, "/proc/self/stat", 4096, FD_HOST, &a, &text, &len, &e) == 0 &&
            len > 20,
        "a procfs file of size 0");
}

static void test_procfs (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct statfs fs = { 0 };
    char path[64];
    char *text = NULL;
    AUTO_FD proc = fd_procfs (&e);

    ok (proc >= 0 && fstatfs (proc, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC, "fd_procfs");
    ok (fd_read_file (proc, "self/comm", 64, FD_PROC, &a, &text, NULL, &e) == 0, "self/comm");
    ok (fd_write_kernel (proc, "self/comm", "renamed", FD_PROC, &e) == 0 &&
            fd_read_file (proc, "self/comm", 64, FD_PROC, &a, &text, NULL, &e) == 0 &&
            strcmp (text, "renamed\n") == 0,
        "write and read back");
    ok (fd_write_kernel (proc, "self/oom_score_adj", "x", FD_PROC, &e) == -EINVAL,
        "what the kernel refuses");
    tap_is (e.msg, "write 'x' to 'self/oom_score_adj': invalid argument (EINVAL)", "its message");
    ok (fd_open (proc, "self/root/etc", O_PATH, FD_PROC, &e) == -ELOOP, "no way out of it");
    (void)snprintf (path, sizeof path, "%d/fd", (int)getpid ());
    ok (fd_open (proc, "../etc", O_PATH, FD_PROC, &e) == -EXDEV, "not upwards either");
}

static void test_sockets (void)
{
    char buf[8] = "";
    char path[32];
    int sv[2] = { -1, -1 };
    int fd = -1;
    int other = -1;

    must (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv));
    ok (fd_send (sv[0], "pts", 3, sv[0]) == 0, "send a descriptor");
    ok (fd_recv (sv[1], buf, sizeof buf, &fd) == 3 && fd >= 0 && memcmp (buf, "pts", 3) == 0,
        "receive it");
    ok ((fcntl (fd, F_GETFD) & FD_CLOEXEC) != 0, "close-on-exec");
    (void)close (fd);
    ok (fd_send (sv[0], "x", 1, -1) == 0 && fd_recv (sv[1], buf, sizeof buf, &fd) == 1 && fd == -1,
        "none sent, none received");
    ok (fd_send (sv[0], "123456789", 9, sv[0]) == 0 &&
            fd_recv (sv[1], buf, sizeof buf, &fd) == -EPROTO,
        "a message that is cut off");
    other = dup (0);
    (void)close (other);
    ok (fcntl (other, F_GETFD) < 0 && strcmp (fd_path (path, 7), "/proc/self/fd/7") == 0,
        "fd_path");
    (void)close (sv[0]);
    ok (fd_recv (sv[1], buf, sizeof buf, &fd) == 0, "end of file");
    ok (fd_send (sv[1], "x", 1, -1) == -EPIPE, "a closed peer is an error, not a signal");
    (void)close (sv[1]);
}

static void test_connect (int tmp)
{
    char dir[160];
    char path[400];
    struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "sock" };
    struct err e = { 0 };
    AUTO_FD listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    AUTO_FD sock = -1;
    AUTO_FD cwd = open (".", O_PATH | O_CLOEXEC);

    memset (dir, 'd', sizeof dir);
    dir[150] = '\0';
    (void)mkdirat (tmp, dir, 0700);
    must (fchdir (tmp));
    must (chdir (dir));
    must (bind (listener, (struct sockaddr *)&addr, sizeof addr));
    must (listen (listener, 1));
    must (fchdir (cwd));
    (void)snprintf (path, sizeof path, "/proc/self/fd/%d/%s/sock", tmp, dir);
    sock = fd_connect_unix (path, &e);
    ok (sock >= 0, "connect to a path of %zu bytes", strlen (path));
    ok (fd_connect_unix ("/nonexistent/sock", &e) == -ENOENT, "connect to nothing");
    must (listen (listener, 0)); /* one may wait, and does */
    ok (fd_connect_unix (path, &e) == -ETIMEDOUT && strstr (e.msg, "accepted no connection"),
        "a listener that accepts nobody: %s", e.msg);
}

int main (void)
{
    char name[] = "/tmp/test_base.XXXXXX";
    char cmd[64];
    AUTO_FD tmp = -1;

    if (!mkdtemp (name))
        return 1;
    tmp = open (name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    test_num ();
    test_size ();
    test_str ();
    test_resolve (tmp);
    test_mkdir_p (tmp);
    test_race (tmp);
    test_concurrent_mkdir (tmp);
    test_files (tmp);
    test_procfs ();
    test_sockets ();
    test_connect (tmp);
    (void)snprintf (cmd, sizeof cmd, "rm -rf %s", name);
    ok (system (cmd) == 0, "clean up");
    return tap_done ();
}
