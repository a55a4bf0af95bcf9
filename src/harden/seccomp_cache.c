#include "seccomp_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define CACHE_MAGIC                                                                                \
    UINT64_C (0x3130706d63636573) /* "seccmp01": raised with every change of format */
#define CACHE_ENTRIES_MAX 128
#define KEY_MAX           ((size_t)8 << 20) /* twice what a config.json may have */

/* An entry is this, then the instructions, then the key. Little or big endian as the host is. */
struct header {
    uint64_t magic;
    uint64_t sum; /* of all that follows */
    uint32_t n_insns, key_len;
};
_Static_assert(sizeof (struct header) % _Alignof(struct sock_filter) == 0, "instructions follow");

/* ---- the key ---- */

static void add_u64 (struct strbuf *key, uint64_t v)
{
    strbuf_add (key, (const char *)&v, sizeof v);
}

static void add_text (struct strbuf *key, const char *s)
{
    size_t len = strlen (s);

    add_u64 (key, len);
    strbuf_add (key, s, len);
}

static void add_rule (struct strbuf *key, const struct oci_syscall *rule)
{
    add_u64 (key, (uint64_t)rule->action);
    add_u64 (key, rule->has_errno_ret);
    add_u64 (key, rule->errno_ret);
    add_u64 (key, rule->n_names);
    for (size_t i = 0; i < rule->n_names; i++)
        add_text (key, rule->names[i]);
    add_u64 (key, rule->n_args);
    for (size_t i = 0; i < rule->n_args; i++) {
        add_u64 (key, rule->args[i].index);
        add_u64 (key, (uint64_t)rule->args[i].op);
        add_u64 (key, rule->args[i].value);
        add_u64 (key, rule->args[i].value_two);
    }
}

void seccomp_cache_key (const struct oci_linux_seccomp *s, struct strbuf *key)
{
    const struct scmp_version *v = seccomp_version ();

    add_u64 (key, v->major);
    add_u64 (key, v->minor);
    add_u64 (key, v->micro);
    add_u64 (key, seccomp_arch_native ());
    add_u64 (key, (uint64_t)s->default_action);
    add_u64 (key, s->has_default_errno_ret);
    add_u64 (key, s->default_errno_ret);
    add_u64 (key, s->n_architectures);
    for (size_t i = 0; i < s->n_architectures; i++)
        add_u64 (key, (uint64_t)s->architectures[i]);
    add_u64 (key, s->n_syscalls);
    for (size_t i = 0; i < s->n_syscalls; i++)
        add_rule (key, &s->syscalls[i]);
}

/* ---- entries ---- */

/* Fast, not strong: it names files and finds damage. That two profiles never share an entry is the
 * comparison's work, whatever this gives. */
static uint64_t sum64 (const char *buf, size_t len)
{
    uint64_t h = len;

    for (; len > 0;) {
        uint64_t word = 0;
        size_t n = len < sizeof word ? len : sizeof word;

        memcpy (&word, buf, n);
        h = (h ^ word) * UINT64_C (0x9e3779b97f4a7c15);
        h ^= h >> 32;
        buf += n;
        len -= n;
    }
    return h;
}

#define NAME_SIZE 32

static void entry_name (const struct strbuf *key, char name[NAME_SIZE])
{
    (void)snprintf (name, NAME_SIZE, "%016llx.bpf", (unsigned long long)sum64 (key->s, key->len));
}

/* A file of which nobody but us can have written a byte. */
static bool is_ours (int fd)
{
    struct stat st;

    return fstat (fd, &st) == 0 && st.st_uid == geteuid () && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
           (S_ISREG (st.st_mode) || S_ISDIR (st.st_mode));
}

static bool is_whole (const struct header *h, const char *buf, size_t len)
{
    return len >= sizeof *h && h->magic == CACHE_MAGIC && h->n_insns > 0 &&
           h->n_insns <= BPF_MAXINSNS &&
           len == sizeof *h + h->n_insns * sizeof (struct sock_filter) + h->key_len &&
           sum64 (buf + sizeof *h, len - sizeof *h) == h->sum;
}

bool seccomp_cache_find (int dir, const struct strbuf *key, struct arena *a,
                         struct seccomp_part *ret)
{
    char name[NAME_SIZE];
    struct err ignored; /* any failure means: compile */
    const struct header *h;
    size_t insns_len, len;
    AUTO_FD fd = -1;
    char *buf;

    if (!is_ours (dir))
        return false;
    entry_name (key, name);
    fd = fd_open (dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, FD_BENEATH, &ignored);
    if (fd < 0 || !is_ours (fd) || fd_read_all (fd, name, KEY_MAX * 2, a, &buf, &len, &ignored) < 0)
        return false;
    h = (const struct header *)(const void *)buf;
    if (!is_whole (h, buf, len))
        return false;
    insns_len = h->n_insns * sizeof (struct sock_filter);
    if (h->key_len != key->len || memcmp (buf + sizeof *h + insns_len, key->s, key->len) != 0)
        return false;
    (void)futimens (fd, NULL); /* used now: what is oldest is dropped first */
    ret->insns = (struct sock_filter *)(void *)(buf + sizeof *h);
    ret->n = h->n_insns;
    return true;
}

/* ---- eviction ---- */

static bool older (const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Removes the file used longest ago. Returns how many there were. */
static size_t drop_oldest (DIR *d, size_t max)
{
    char oldest[256] = "";
    struct timespec when = { 0 };
    const struct dirent *entry;
    struct stat st;
    size_t n = 0;

    rewinddir (d);
    while ((entry = readdir (d))) {
        if (fstatat (dirfd (d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG (st.st_mode))
            continue;
        if (n++ == 0 || older (&st.st_mtim, &when)) {
            when = st.st_mtim;
            (void)snprintf (oldest, sizeof oldest, "%s", entry->d_name);
        }
    }
    if (n > max)
        (void)unlinkat (dirfd (d), oldest, 0); /* somebody else may have dropped it just now */
    return n;
}

static void evict (int dir)
{
    int copy = openat (dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_DIR *d = copy < 0 ? NULL : fdopendir (copy);

    if (!d)
        return;
    for (int i = 0; i < CACHE_ENTRIES_MAX; i++)
        if (drop_oldest (d, CACHE_ENTRIES_MAX) <= CACHE_ENTRIES_MAX + 1)
            return;
}

void seccomp_cache_store (int dir, const struct strbuf *key, const struct seccomp_part *filter)
{
    struct header h = { CACHE_MAGIC, 0, (uint32_t)filter->n, (uint32_t)key->len };
    AUTO_STRBUF file = { 0 };
    char name[NAME_SIZE];
    struct err ignored;

    if (key->len > KEY_MAX || !is_ours (dir))
        return;
    strbuf_add (&file, (const char *)&h, sizeof h);
    strbuf_add (&file, (const char *)filter->insns, filter->n * sizeof *filter->insns);
    strbuf_add (&file, key->s, key->len);
    if (file.failed)
        return;
    h.sum = sum64 (file.s + sizeof h, file.len - sizeof h);
    memcpy (file.s, &h, sizeof h);
    entry_name (key, name);
    if (fd_write_atomic (dir, name, file.s, file.len, 0600, &ignored) == 0)
        evict (dir);
}
