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
#include "base/fd.h"
#include "base/str.h"

#define STATE_FILE  "state.json"
#define CONFIG_FILE "config.json"

#define STATE_VERSION 1

#define LOCK_WAIT_S   60
#define LOCK_PAUSE_MS 10

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
static bool is_still_linked (const struct state *s)
{
    struct stat ours;
    struct stat named;

    return fstat (s->dir, &ours) == 0 &&
           fstatat (s->root, s->id, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static int64_t seconds_now (void)
{
    struct timespec ts = { 0 };

    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    return ts.tv_sec;
}

/* Not a blocking flock: it has no deadline, and SIGALRM belongs to nobody here. */
int state_lock (struct state *s, struct err *e)
{
    const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
    int64_t deadline = seconds_now () + LOCK_WAIT_S;

    while (flock (s->dir, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys (e, "lock container '%s'", s->id);
        if (seconds_now () >= deadline)
            return err_set (e, ETIMEDOUT, "container '%s' is in use by another command since %d s",
                            s->id, LOCK_WAIT_S);
        (void)nanosleep (&pause, NULL);
    }
    s->locked = true;
    return is_still_linked (s) ? 0 : not_there (e);
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
    if (r < 0)
        (void)unlinkat (root, id, AT_REMOVEDIR); /* out of descriptors, say: the claim is undone */
    else
        r = state_lock (&s, e);
    if (r < 0) {
        state_close (&s);
        return err_add (e, "claim '%s'", id); /* a delete --force was faster */
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

static int read_state (struct state *s, struct arena *a, struct err *e)
{
    const struct oci_saved_state *saved = NULL;
    const void *doc = NULL;
    int r = read_document (s, STATE_FILE, &oci_saved_state_type, a, &doc, e);

    if (r < 0)
        return r;
    saved = doc;
    if (saved->version != STATE_VERSION || strcmp (saved->id, s->id) != 0)
        return err_set (e, EINVAL, "container '%s': " STATE_FILE ": version %u of container '%s'",
                        s->id, saved->version, saved->id);
    s->saved = saved;
    return 0;
}

int state_open (int root, const char *id, int flags, struct arena *a, struct state *ret,
                struct err *e)
{
    struct state s = { .id = id, .root = root, .dir = -1 };
    int r = check_id (id, e);

    if (r == 0)
        r = open_folder (&s, e);
    if (r == 0 && (flags & STATE_LOCK))
        r = state_lock (&s, e);
    if (r == 0) {
        r = read_state (&s, a, e);
        if (r < 0 && r != -ENOMEM && (flags & STATE_ALLOW_BROKEN))
            r = 0;
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
    int r = write_document (s, STATE_FILE, &oci_saved_state_type, saved, e);

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

int state_write_check (const struct state *s, const struct oci_saved_state *saved, struct arena *a,
                       struct err *e)
{
    AUTO_STRBUF want = { 0 };
    char *text = NULL;
    int r = oci_emit (&oci_saved_state_type, saved, OCI_COMPACT, &want, e);

    if (r == 0 && want.failed)
        r = err_oom (e);
    if (r == 0)
        r = fd_read_file (s->dir, STATE_FILE, OCI_MAX_BYTES, FD_BENEATH, a, &text, NULL, e);
    if (r < 0)
        return r;
    return strcmp (text, want.s) == 0 ? 0 : err_set (e, EIO, STATE_FILE " reads back differently");
}

/* ---- removal ---- */

static int unlink_in (int dir, const char *name)
{
    return unlinkat (dir, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

/* All but state.json. */
static int empty_folder (const struct state *s)
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
            strcmp (d->d_name, STATE_FILE) != 0)
            r = unlink_in (s->dir, d->d_name);
    return r < 0 ? r : -errno;
}

int state_remove (struct state *s, struct err *e)
{
    int r = empty_folder (s);

    if (r == 0)
        r = unlink_in (s->dir, STATE_FILE);
    if (r == 0 && unlinkat (s->root, s->id, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    if (r < 0) {
        errno = -r;
        return err_sys (e, "remove the state of container '%s'", s->id);
    }
    return 0;
}
