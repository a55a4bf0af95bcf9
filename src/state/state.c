#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "state/gate.h"

#define STATE_FILE  "state.json"
#define COPY_FILE   "state.copy"
#define CONFIG_FILE "config.json"
#define POLICY_FILE "policy.json"

#define STATE_VERSION 1

#define LOCK_WAIT_MS       60000
#define LOCK_WAIT_SHORT_MS 3000
#define LOCK_PAUSE_MS      10
#define LOCK_TRIES         100 /* the kernel is short of memory for a lock (ENOLCK) */

static int check_id (const char *id, struct err *e)
{
    if (!str_is_id (id))
        return err_set (e, EINVAL,
                        "invalid container id '%.64s': up to 255 of [A-Za-z0-9_+.-], the first not "
                        "'.' or '-'",
                        id);
    return 0;
}

static int not_there (struct err *e)
{
    return err_set (e, ENOENT, "container does not exist"); /* engines match it: oci-matrix 1.6 */
}

/* ---- the lock ---- */

/* Another command may have removed the folder while we waited for it. */
static int require_linked (const struct state *s, struct err *e)
{
    struct stat ours;
    struct stat named;

    if (fstat (s->dir, &ours) < 0)
        return err_sys (e, "look at the state of container '%s'", s->id);
    if (fstatat (s->root, s->id, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? not_there (e)
                               : err_sys (e, "look for the state of container '%s'", s->id);
    return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino ? 0 : not_there (e);
}

/* Not a blocking flock: it has no deadline, and SIGALRM belongs to nobody here. */
static int lock_within (struct state *s, int64_t ms, struct err *e)
{
    const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
    int64_t deadline = clock_ms () + ms;
    int tries = 0;

    while (flock (s->dir, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR && !(errno == ENOLCK && tries++ < LOCK_TRIES))
            return err_sys (e, "lock container '%s'", s->id);
        if (clock_ms () >= deadline)
            return err_set (e, ETIMEDOUT, "container '%s' is in use by another command since %d s",
                            s->id, (int)(ms / 1000));
        (void)nanosleep (&pause, NULL);
    }
    s->locked = true;
    return require_linked (s, e);
}

int state_lock (struct state *s, struct err *e)
{
    return lock_within (s, LOCK_WAIT_MS, e);
}

static int lock_as_asked (struct state *s, int flags, struct err *e)
{
    if (flags & STATE_LOCK)
        return lock_within (s, LOCK_WAIT_MS, e);
    if (flags & STATE_LOCK_SHORT)
        return lock_within (s, LOCK_WAIT_SHORT_MS, e);
    return flags & STATE_LOCK_NOW ? lock_within (s, 0, e) : 0;
}

void state_unlock (struct state *s)
{
    /* By hand, also before close(): a child that has not called state_disown yet shares our
     * file. */
    if (s->locked)
        (void)flock (s->dir, LOCK_UN);
    s->locked = false;
}

/* ---- opening ---- */

static int open_folder (struct state *s, struct err *e)
{
    s->dir = openat (s->root, s->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->dir < 0 && errno == ENOENT)
        return not_there (e);
    return s->dir < 0 ? err_sys (e, "open the state of container '%s'", s->id) : 0;
}

int state_claim (int root, const char *id, struct state *ret, struct err *e)
{
    struct state s = { .id = id, .root = root, .dir = -1 };
    int r = check_id (id, e);

    if (r < 0)
        return r;
    if (mkdirat (root, id, 0700) < 0) {
        if (errno == EEXIST)
            return err_set (e, EEXIST, "container with given ID already exists");
        return err_sys (e, "make the state of container '%s'", id);
    }
    r = open_folder (&s, e);
    if (r == 0)
        r = state_lock (&s, e);
    if (r < 0) {
        if (r != -ENOENT)                            /* else a delete --force was faster */
            (void)unlinkat (root, id, AT_REMOVEDIR); /* out of descriptors, say: undone */
        state_close (&s);
        return err_add (e, "claim '%s'", id);
    }
    *ret = s;
    return 0;
}

static int read_document (const struct state *s, const char *file, const struct oci_type *type,
                          struct arena *a, const void **ret, struct err *e)
{
    char *text = NULL;
    size_t len = 0;
    int r = fd_read_file (s->dir, file, OCI_MAX_BYTES, FD_BENEATH, a, &text, &len, e);

    if (r == -ENOENT)
        return err_set (e, ENODATA,
                        "container '%s' has no %s: its create is under way or was killed; delete "
                        "--force removes it",
                        s->id, file);
    if (r == 0)
        r = oci_parse (type, text, len, a, ret, NULL, e);
    return r < 0 ? err_add (e, "container '%s': %s", s->id, file) : 0;
}

/* A whole state that is not one of ours is no broken one: nothing may be done by it. */
static int refuse_foreign (const struct state *s, const char *file,
                           const struct oci_saved_state *saved, struct err *e)
{
    if (saved->version != STATE_VERSION)
        return err_set (e, EPROTO,
                        "container '%s': %s has version %u, this program knows %d: use the "
                        "agentrt that made it",
                        s->id, file, saved->version, STATE_VERSION);
    if (strcmp (saved->id, s->id) != 0)
        return err_set (e, EPROTO, "container '%s': %s is that of another container, '%.64s'",
                        s->id, file, saved->id);
    return 0;
}

static int read_state (struct state *s, const char *file, struct arena *a, struct err *e)
{
    const struct oci_saved_state *saved = NULL;
    const void *doc = NULL;
    int r = read_document (s, file, &oci_saved_state_type, a, &doc, e);

    if (r < 0)
        return r;
    saved = doc;
    r = refuse_foreign (s, file, saved, e);
    if (r == 0)
        s->saved = saved;
    return r;
}

static bool has_file (const struct state *s, const char *file)
{
    struct stat st;

    return fstatat (s->dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* A create writes both states before it makes anything, and a delete unlinks them last. */
static bool is_blank (const struct state *s)
{
    return !has_file (s, STATE_FILE) && !has_file (s, COPY_FILE) && !has_file (s, CONFIG_FILE) &&
           !state_gate_is_locked (s);
}

/* For who has to find a container's cgroup and processes whatever has become of state.json. E says
 * what is wrong with it. */
static int recover (struct state *s, struct arena *a, struct err *e)
{
    struct err copy = { 0 };

    if (e->code == ENOMEM || e->code == EPROTO)
        return -e->code;
    if (is_blank (s))
        return 0;
    if (read_state (s, COPY_FILE, a, &copy) == 0) {
        s->recovered = true;
        return 0;
    }
    return err_set (e, EUCLEAN,
                    "container '%s': neither " STATE_FILE " nor " COPY_FILE
                    " can be used, so nobody knows its cgroup and its processes, and nothing was "
                    "removed: kill them by hand, then remove the folder '%s' of the state root: "
                    "%.200s",
                    s->id, s->id, copy.msg);
}

int state_open (int root, const char *id, int flags, struct arena *a, struct state *ret,
                struct err *e)
{
    struct state s = { .id = id, .root = root, .dir = -1 };
    int r = check_id (id, e);

    if (r == 0)
        r = open_folder (&s, e);
    if (r == 0)
        r = lock_as_asked (&s, flags, e);
    if (r == 0) {
        r = read_state (&s, STATE_FILE, a, e);
        if (r < 0 && (flags & STATE_ALLOW_BROKEN))
            r = recover (&s, a, e);
    }
    if (r < 0) {
        state_close (&s);
        return r;
    }
    *ret = s;
    return 0;
}

void state_close (struct state *s)
{
    state_unlock (s);
    state_disown (s);
}

void state_disown (struct state *s)
{
    cleanup_fd (&s->dir);
    s->dir = -1;
    s->locked = false;
}

/* ---- contents ---- */

static int write_document (const struct state *s, const char *file, const struct oci_type *type,
                           const void *doc, struct err *e)
{
    AUTO_STRBUF out = { 0 };
    int r = oci_emit (type, doc, OCI_COMPACT, &out, e);

    if (r == 0 && out.failed)
        r = err_oom (e);
    if (r == 0)
        r = fd_write_atomic (s->dir, file, out.s, out.len, 0600, e);
    return r < 0 ? err_add (e, "container '%s'", s->id) : 0;
}

int state_write (struct state *s, const struct oci_saved_state *saved, struct err *e)
{
    int r = write_document (s, COPY_FILE, &oci_saved_state_type, saved, e);

    if (r == 0)
        r = write_document (s, STATE_FILE, &oci_saved_state_type, saved, e);
    if (r == 0)
        s->saved = saved;
    return r;
}

int state_write_config (const struct state *s, const struct oci_config *config, struct err *e)
{
    return write_document (s, CONFIG_FILE, &oci_config_type, config, e);
}

int state_read_config (const struct state *s, struct arena *a, const struct oci_config **ret,
                       struct err *e)
{
    const void *doc = NULL;
    int r = read_document (s, CONFIG_FILE, &oci_config_type, a, &doc, e);

    if (r < 0)
        return r;
    *ret = doc;
    return 0;
}

int state_write_policy (const struct state *s, const struct oci_policy *policy, struct err *e)
{
    return write_document (s, POLICY_FILE, &oci_policy_type, policy, e);
}

int state_read_policy (const struct state *s, struct arena *a, const struct oci_policy **ret,
                       struct err *e)
{
    const void *doc = NULL;
    int r = read_document (s, POLICY_FILE, &oci_policy_type, a, &doc, e);

    if (r < 0)
        return r;
    *ret = doc;
    return 0;
}

static int check_text (const struct state *s, const char *file, const char *want, struct arena *a,
                       struct err *e)
{
    char *text = NULL;
    int r = fd_read_file (s->dir, file, OCI_MAX_BYTES, FD_BENEATH, a, &text, NULL, e);

    if (r < 0)
        return r;
    return strcmp (text, want) == 0 ? 0 : err_set (e, EIO, "%s reads back differently", file);
}

int state_write_check (const struct state *s, const struct oci_saved_state *saved, struct arena *a,
                       struct err *e)
{
    AUTO_STRBUF want = { 0 };
    int r = oci_emit (&oci_saved_state_type, saved, OCI_COMPACT, &want, e);

    if (r == 0 && want.failed)
        r = err_oom (e);
    if (r == 0)
        r = check_text (s, STATE_FILE, want.s, a, e);
    return r < 0 ? r : check_text (s, COPY_FILE, want.s, a, e);
}

/* ---- removal ---- */

static int unlink_in (int dir, const char *name)
{
    return unlinkat (dir, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* What this program writes goes by its name: to list a folder takes a descriptor and memory, and
 * may be what has failed. */
static int unlink_known (const struct state *s)
{
    static const char *const names[] = { STATE_GATE_SOCKET, STATE_GATE_LOCK, POLICY_FILE,
                                         CONFIG_FILE };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN (names); i++)
        r = unlink_in (s->dir, names[i]);
    return r;
}

/* The rest, but for the two states: what a killed command was writing. */
static int unlink_unknown (const struct state *s)
{
    int fd = openat (s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
    const struct dirent *d;
    int r = 0;

    if (!dir) {
        cleanup_fd (&fd);
        return -errno;
    }
    while (r == 0 && (errno = 0, d = readdir (dir)))
        if (strcmp (d->d_name, ".") != 0 && strcmp (d->d_name, "..") != 0 &&
            strcmp (d->d_name, STATE_FILE) != 0 && strcmp (d->d_name, COPY_FILE) != 0)
            r = unlink_in (s->dir, d->d_name);
    return r < 0 ? r : -errno;
}

static int remove_once (const struct state *s)
{
    int listed = unlink_unknown (s); /* matters only if the folder is not empty at the end */
    int r = unlink_known (s);

    if (r == 0)
        r = unlink_in (s->dir, COPY_FILE);
    if (r == 0)
        r = unlink_in (s->dir, STATE_FILE);
    if (r == 0 && unlinkat (s->root, s->id, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = listed < 0 ? listed : -errno;
    return r;
}

int state_remove (struct state *s, struct err *e)
{
    int r = remove_once (s);

    if (r < 0) /* the last thing that can be done about what fails for a moment */
        r = remove_once (s);
    if (r < 0) {
        errno = -r;
        return err_sys (e, "remove the state of container '%s'", s->id);
    }
    return 0;
}
