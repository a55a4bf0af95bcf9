/* state/: a real state root in a temporary folder, with real processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "state/gate.h"
#include "state/state.h"
#include "tap.h"

static char tmp[] = "/tmp/test_state.XXXXXX";
static int root = -1;

static struct oci_saved_state example (const char *id)
{
    static const struct oci_kv annotations[] = { { "k", "v" } };

    return (struct oci_saved_state){ .version = 1,
                                     .oci_version = "1.2.0",
                                     .id = id,
                                     .bundle = "/b",
                                     .rootfs = "/b/rootfs",
                                     .created = "2026-01-02T03:04:05.000000006Z",
                                     .annotations = annotations,
                                     .n_annotations = 1,
                                     .policy = "oci" };
}

/* Claims ID and writes its state. The caller closes it. */
static struct state claimed (const char *id, const struct oci_saved_state *saved)
{
    struct state s = { .dir = -1 };
    struct err e = { 0 };

    if (state_claim (root, id, &s, &e) < 0 || state_write (&s, saved, &e) < 0) {
        printf ("# %s\n", e.msg);
        exit (EXIT_FAILURE);
    }
    return s;
}

/* ---- the root ---- */

static void test_root (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct stat st;
    char path[128];
    char want[256];
    int fd = 7;

    (void)snprintf (path, sizeof path, "%s/a/b/root/", tmp);
    ok (state_open_root (path, false, &fd, &e) == 0 && fd == -1, "not there, not to be made");
    ok (state_open_root (path, true, &fd, &e) == 0 && fstat (fd, &st) == 0,
        "made with its parents");
    ok (st.st_mode == (S_IFDIR | 0700), "mode 0700");
    root = fd;
    ok (state_open_root (path, false, &fd, &e) == 0 && fd >= 0, "opened");
    (void)close (fd);

    ok (state_open_root ("/", true, &fd, &e) == -EINVAL &&
            state_open_root ("//", true, &fd, &e) < 0 &&
            state_open_root ("/tmp/..", true, &fd, &e) == -EINVAL,
        "'/' in any spelling");
    ok (state_open_root ("tmp/x", true, &fd, &e) == -EINVAL, "a relative path");
    (void)snprintf (path, sizeof path, "%s/run/agentrt", tmp);
    (void)setenv ("XDG_RUNTIME_DIR", tmp, 1);
    ok (state_open_root (path, true, &fd, &e) == 0 && fstat (fd, &st) == 0 &&
            st.st_mode == (S_IFDIR | S_ISVTX | 0700),
        "sticky below XDG_RUNTIME_DIR");
    (void)close (fd);
    (void)unsetenv ("XDG_RUNTIME_DIR");
    (void)snprintf (path, sizeof path, "%s/link", tmp);
    ok (symlink ("a/b/root", path) == 0 && state_open_root (path, true, &fd, &e) == -ENOTDIR,
        "a link");
    (void)snprintf (want, sizeof want, "the state root '%s' is a link or no folder", path);
    tap_is (e.msg, want, "its message");
    (void)snprintf (path, sizeof path, "%s/open", tmp);
    ok (mkdir (path, 0700) == 0 && chmod (path, 0770) == 0 &&
            state_open_root (path, true, &fd, &e) == -EPERM,
        "writable by a group");
    ok (geteuid () != 0 || (chmod (path, 0700) == 0 && chown (path, 65534, 0) == 0 &&
                            state_open_root (path, true, &fd, &e) == -EPERM),
        "of another owner");
}

static void test_default_root (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const char *path = NULL;
    int status = -1;

    ok (geteuid () != 0 ||
            (state_default_root (&a, &path, &e) == 0 && strcmp (path, "/run/agentrt") == 0),
        "root's default");
    if (fork () == 0) {
        bool good = geteuid () != 0 || setuid (65534) == 0;

        (void)setenv ("XDG_RUNTIME_DIR", "/run/user/1", 1);
        good = good && state_default_root (&a, &path, &e) == 0 &&
               strcmp (path, "/run/user/1/agentrt") == 0;
        (void)unsetenv ("XDG_RUNTIME_DIR");
        good = good && state_default_root (&a, &path, &e) == -EINVAL;
        _exit (good ? 0 : 1);
    }
    (void)wait (&status);
    ok (status == 0, "a user's default, and none without XDG_RUNTIME_DIR");
}

/* ---- documents ---- */

static void test_life (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct oci_saved_state saved = example ("c1");
    const struct oci_config config = { .oci_version = "1.0.0" };
    const struct oci_config *back = NULL;
    struct oci_state doc;
    struct state s = claimed ("c1", &saved);
    struct state other = { .dir = -1 };

    ok (state_claim (root, "c1", &other, &e) == -EEXIST, "claimed twice");
    tap_is (e.msg, "container with given ID already exists", "its message");
    ok (state_write_check (&s, &saved, &a, &e) == 0, "reads back");
    saved.pid = 5;
    ok (state_write_check (&s, &saved, &a, &e) == -EIO, "a difference is seen");
    ok (state_write_config (&s, &config, &e) == 0 && state_read_config (&s, &a, &back, &e) == 0 &&
            strcmp (back->oci_version, "1.0.0") == 0,
        "the config too");
    state_close (&s);

    ok (state_open (root, "c1", STATE_LOCK, &a, &s, &e) == 0 && s.locked, "opened and locked");
    state_oci (&s, STATUS_STOPPED, &doc);
    ok (strcmp (doc.status, "stopped") == 0 && doc.has_pid && doc.pid == 0 &&
            strcmp (doc.bundle, "/b") == 0 && doc.n_annotations == 1 &&
            strcmp (doc.annotations[0].value, "v") == 0,
        "its OCI state");
    ok (geteuid () != 0 || strcmp (state_owner (s.saved, &a), "root") == 0, "its owner");
    saved.owner = 4000000001U;
    tap_is (state_owner (&saved, &a), "#4000000001", "an owner without a name");
    ok (state_remove (&s, &e) == 0 && state_remove (&s, &e) == 0, "removed; twice is fine");
    state_close (&s);
    ok (state_open (root, "c1", 0, &a, &s, &e) == -ENOENT, "gone");
    tap_is (e.msg, "container does not exist", "its message");
}

static void test_bad_ids (void)
{
    static const char *const bad[] = {
        "", ".", "..", "../x", "a/b", "-x", "a b", "%s%n", ".cache"
    };
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct state s = { .dir = -1 };

    for (size_t i = 0; i < ARRAY_LEN (bad); i++)
        ok (state_claim (root, bad[i], &s, &e) == -EINVAL &&
                state_open (root, bad[i], STATE_ALLOW_BROKEN, &a, &s, &e) == -EINVAL,
            "id '%s'", bad[i]);
}

static void write_in (const char *id, const char *file, const char *text, size_t len)
{
    struct err e = { 0 };
    AUTO_FD dir = openat (root, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)fd_write_atomic (dir, file, text, len, 0600, &e);
}

/* state.json cut off at every byte: an error with its name, and delete --force has its copy. */
static void test_truncated (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct oci_saved_state saved = example ("cut");
    struct state s;
    char *text = NULL;
    size_t len = 0;
    size_t good = 0;

    saved.pid = 77;
    s = claimed ("cut", &saved);
    (void)fd_read_file (s.dir, "state.json", 65536, FD_BENEATH, &a, &text, &len, &e);
    state_close (&s);
    ok (len > 100, "%zu bytes", len);
    for (size_t n = 0; n < len; n++) {
        struct state t = { .dir = -1 };
        bool refused;

        write_in ("cut", "state.json", text, n);
        refused = state_open (root, "cut", 0, &a, &t, &e) == -EINVAL &&
                  strncmp (e.msg, "container 'cut': state.json: ", 29) == 0;
        good += refused && state_open (root, "cut", STATE_ALLOW_BROKEN, &a, &t, &e) == 0 &&
                t.recovered && t.saved && t.saved->pid == 77;
        state_close (&t);
    }
    ok (good == len, "each cut is refused, and opens by its copy (%zu)", good);
}

static void unlink_in (const char *id, const char *file)
{
    AUTO_FD dir = openat (root, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)unlinkat (dir, file, 0);
}

/* What test_truncated left, without its files one after the other. */
static void test_unreadable (void)
{
    const int force = STATE_LOCK | STATE_ALLOW_BROKEN;
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct state s = { .dir = -1 };

    unlink_in ("cut", "state.json");
    ok (state_open (root, "cut", force, &a, &s, &e) == 0 && s.saved && s.recovered,
        "without state.json");
    state_close (&s);
    write_in ("cut", "state.copy", "{}", 2);
    ok (state_open (root, "cut", force, &a, &s, &e) == -EUCLEAN && strstr (e.msg, "state.copy"),
        "with neither it is refused, not removed: %s", e.msg);
    unlink_in ("cut", "state.copy");
    write_in ("cut", "config.json", "{}", 2);
    ok (state_open (root, "cut", force, &a, &s, &e) == -EUCLEAN, "and while there is a config");
    unlink_in ("cut", "config.json");
    ok (state_open (root, "cut", 0, &a, &s, &e) == -ENODATA,
        "a claim and nothing else is an error");
    ok (state_open (root, "cut", force, &a, &s, &e) == 0 && !s.saved && state_remove (&s, &e) == 0,
        "and can be removed");
    state_close (&s);
}

/* A whole state of another version, or of another container: not by force either. */
static void test_foreign (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct oci_saved_state saved = example ("foreign");
    struct state s;
    struct state t = { .dir = -1 };

    saved.version = 2;
    s = claimed ("foreign", &saved);
    state_close (&s);
    ok (state_open (root, "foreign", STATE_ALLOW_BROKEN, &a, &t, &e) == -EPROTO &&
            strstr (e.msg, "version 2"),
        "another version: %s", e.msg);
    ok (state_open (root, "foreign", 0, &a, &t, &e) == -EPROTO, "by no command");
    saved = example ("someone");
    ok (state_open (root, "foreign", STATE_LOCK_NOW, &a, &t, &e) == -EPROTO, "nor locked");
    s = claimed ("other", &saved);
    state_close (&s);
    ok (state_open (root, "other", STATE_ALLOW_BROKEN, &a, &t, &e) == -EPROTO &&
            strstr (e.msg, "'someone'"),
        "another container's: %s", e.msg);
}

static void test_list (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const char *const *ids = NULL;
    size_t n = 9;
    char name[32];
    bool sorted = true;

    ok (state_list (root, &a, &ids, &n, &e) == 0 && n == 0 && ids[0] == NULL, "an empty root");
    for (int i = 40; i-- > 0;) {
        (void)snprintf (name, sizeof name, "c%02d", i);
        (void)mkdirat (root, name, 0700);
    }
    (void)mkdirat (root, ".cache", 0700);
    (void)close (openat (root, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ok (state_list (root, &a, &ids, &n, &e) == 0 && n == 40 && ids[40] == NULL,
        "folders with the name of an id");
    for (size_t i = 0; i < n; i++) {
        (void)snprintf (name, sizeof name, "c%02zu", i);
        sorted = sorted && strcmp (ids[i], name) == 0;
        (void)unlinkat (root, ids[i], AT_REMOVEDIR);
    }
    ok (sorted, "sorted");
}

/* ---- the lock ---- */

static void test_claim_race (void)
{
    int won = 0;

    for (int i = 0; i < 50; i++) {
        struct err e = { 0 };
        struct state s = { .dir = -1 };

        if (fork () == 0)
            _exit (state_claim (root, "race", &s, &e) == 0 ? 1 : e.code == EEXIST ? 0 : 2);
    }
    for (int i = 0; i < 50; i++) {
        int status = 0;

        (void)wait (&status);
        won += WEXITSTATUS (status);
    }
    ok (won == 1, "50 claims of one id: %d won", won);
    (void)unlinkat (root, "race", AT_REMOVEDIR);
}

/* One waits for the lock while another removes the container. */
static void test_lock_and_remove (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const struct oci_saved_state saved = example ("gone");
    struct state s = claimed ("gone", &saved);
    int status = -1;
    pid_t pid = fork ();

    if (pid == 0) {
        struct state t = { .dir = -1 };

        state_disown (&s);
        _exit (state_open (root, "gone", STATE_LOCK, &a, &t, &e) == -ENOENT ? 0 : 1);
    }
    (void)usleep (100000);
    ok (waitpid (pid, NULL, WNOHANG) == 0, "the second one waits");
    (void)state_remove (&s, &e);
    state_close (&s);
    (void)waitpid (pid, &status, 0);
    ok (status == 0, "and then learns that the container is gone");
}

static void test_unlock (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const struct oci_saved_state saved = example ("held");
    struct state s = claimed ("held", &saved);
    struct state other = { .dir = -1 };

    state_unlock (&s);
    ok (!s.locked && state_open (root, "held", STATE_LOCK, &a, &other, &e) == 0,
        "another command can lock");
    (void)state_remove (&other, &e);
    state_close (&other);
    other = claimed ("held", &saved);
    state_unlock (&other);
    ok (state_lock (&s, &e) == -ENOENT, "removed meanwhile, and the id given to another");
    ok (state_lock (&other, &e) == 0, "who has it");
    state_close (&s);
    (void)state_remove (&other, &e);
    state_close (&other);
}

/* ---- status ---- */

static pid_t sleeper (void)
{
    pid_t pid = fork ();

    if (pid == 0)
        for (;;)
            (void)pause ();
    return pid;
}

static enum state_status status_of (const struct state *s)
{
    enum state_status st = STATUS_PAUSED;
    struct err e = { 0 };

    if (state_status (s, &st, &e) < 0)
        printf ("# %s\n", e.msg);
    return st;
}

static void test_identity (void)
{
    struct err e = { 0 };
    struct oci_saved_state saved = example ("x");
    int fd;

    saved.pid = sleeper ();
    ok (state_start_time (saved.pid, &saved.pid_start_time, &e) == 0 && saved.pid_start_time > 0,
        "start time");
    fd = state_pidfd (&saved, &e);
    ok (fd >= 0, "pidfd of a live process");
    (void)close (fd);
    saved.pid_start_time++;
    ok (state_pidfd (&saved, &e) == -ESRCH, "another process with the same pid");
    tap_is (e.msg, "container not running", "its message");
    saved.pid_start_time--;
    (void)kill (saved.pid, SIGKILL);
    (void)usleep (50000);
    ok (state_pidfd (&saved, &e) == -ESRCH, "a zombie");
    (void)waitpid (saved.pid, NULL, 0);
    ok (state_pidfd (&saved, &e) == -ESRCH &&
            state_start_time (saved.pid, &saved.pid_start_time, &e) < 0,
        "nobody");
}

static void test_status (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct oci_saved_state saved = example ("st");
    struct state s;
    struct state seen = { .dir = -1 };

    saved.creating = true;
    s = claimed ("st", &saved);
    ok (state_open (root, "st", 0, &a, &seen, &e) == 0 && status_of (&seen) == STATUS_CREATING,
        "somebody else creates it");
    ok (status_of (&s) == STATUS_STOPPED, "whoever holds the lock knows that nobody does");
    state_close (&s);
    ok (status_of (&seen) == STATUS_STOPPED, "its creator died");
    saved.creating = false;
    saved.pid = sleeper ();
    (void)state_start_time (saved.pid, &saved.pid_start_time, &e);
    ok (state_write (&seen, &saved, &e) == 0 && status_of (&seen) == STATUS_RUNNING, "running");
    (void)kill (saved.pid, SIGKILL);
    (void)waitpid (saved.pid, NULL, 0);
    ok (status_of (&seen) == STATUS_STOPPED, "stopped");
    (void)state_remove (&seen, &e);
    state_close (&seen);
}

int main (void)
{
    char cmd[64];

    if (!mkdtemp (tmp))
        return 1;
    test_root ();
    test_default_root ();
    test_life ();
    test_bad_ids ();
    test_truncated ();
    test_unreadable ();
    test_list ();
    test_foreign ();
    test_claim_race ();
    test_lock_and_remove ();
    test_unlock ();
    test_identity ();
    test_status ();
    (void)close (root);
    (void)snprintf (cmd, sizeof cmd, "rm -rf %s", tmp);
    ok (system (cmd) == 0, "clean up");
    return tap_done ();
}
