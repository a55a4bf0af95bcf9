#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cgroup/limits.h"

static struct limit *append (struct limits *l, const struct limit *like)
{
    struct limit *m = arena_alloc (l->a, sizeof *m);

    if (!m) {
        l->failed = true;
        return NULL;
    }
    *m = *like;
    if (l->last)
        l->last->next = m;
    else
        l->first = m;
    l->last = m;
    return m;
}

__attribute__ ((format (printf, 2, 0))) static char *format (struct limits *l, const char *fmt,
                                                             va_list ap)
{
    char text
        [1024]; /* longer texts are the config's: they are cut off, and the kernel refuses them */
    char *copy;

    (void)vsnprintf (text, sizeof text, fmt, ap);
    copy = arena_strdup (l->a, text);
    if (!copy)
        l->failed = true;
    return copy;
}

void limit_add (struct limits *l, const struct limit *like, const char *fmt, ...)
{
    struct limit *m = append (l, like);
    va_list ap;

    if (!m)
        return;
    va_start (ap, fmt);
    m->value = format (l, fmt, ap);
    va_end (ap);
}

void limit_refuse (struct limits *l, const char *controller, const char *key, const char *fmt, ...)
{
    struct limit *m = append (l, &(struct limit){ .controller = controller, .key = key });
    va_list ap;

    if (!m)
        return;
    va_start (ap, fmt);
    m->problem = format (l, fmt, ap);
    va_end (ap);
}

static bool read_member (const struct limit_row *row, const char *section, uint64_t *ret)
{
    const void *at = section + row->member;
    bool has;

    memcpy (&has, section + row->has, sizeof has);
    if (!has)
        return false;
    switch (row->type) {
    case ROW_I64:
    case ROW_U64:
        memcpy (ret, at, sizeof *ret);
        break;
    case ROW_U16:
        *ret = *(const uint16_t *)at;
        break;
    case ROW_BOOL:
        *ret = *(const bool *)at;
        break;
    case ROW_TEXT:
        return false;
    }
    return true;
}

static void add_row (struct limits *l, const struct limit_row *row, const char *section)
{
    char buf[32];
    uint64_t value;

    if (row->type == ROW_TEXT) {
        const char *text;

        memcpy (&text, section + row->member, sizeof text);
        if (text && *text)
            limit_add (l, &row->like, "%s", text);
        return;
    }
    if (read_member (row, section, &value) && row->text (value, buf, sizeof buf))
        limit_add (l, &row->like, "%s", buf);
}

void limit_add_rows (struct limits *l, const struct oci_linux_resources *res,
                     const struct limit_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *section;

        memcpy (&section, (const char *)res + rows[i].group, sizeof section);
        if (section)
            add_row (l, &rows[i], section);
    }
}

bool limit_text_signed (uint64_t value, char *buf, size_t size)
{
    (void)snprintf (buf, size, "%" PRId64, (int64_t)value);
    return value != 0;
}

bool limit_text_unsigned (uint64_t value, char *buf, size_t size)
{
    (void)snprintf (buf, size, "%" PRIu64, value);
    return value != 0;
}

bool limit_text_any (uint64_t value, char *buf, size_t size)
{
    (void)snprintf (buf, size, "%" PRIu64, value);
    return true;
}

bool limit_text_true (uint64_t value, char *buf, size_t size)
{
    (void)snprintf (buf, size, "1");
    return value != 0;
}

/* 0 is a limit, not "unset" (config-linux.md, "PIDs"). It becomes 1, as in runc: with 0 not even
 * the first process could be cloned into the cgroup, and with 1 that one cannot fork. */
bool limit_text_pids (uint64_t value, char *buf, size_t size)
{
    if ((int64_t)value < 0)
        (void)snprintf (buf, size, "max");
    else
        (void)snprintf (buf, size, "%" PRIu64, value ? value : 1);
    return true;
}

/* "2MB" -> 2097152. The text becomes part of a file name, so nothing but a size may pass. */
static uint64_t page_bytes (const char *size)
{
    static const struct {
        const char *unit;
        unsigned int shift;
    } units[] = { { "KB", 10 }, { "MB", 20 }, { "GB", 30 } };
    size_t digits = strspn (size, "0123456789");
    uint64_t n = 0;

    if (digits == 0 || digits > 6)
        return 0;
    for (size_t i = 0; i < digits; i++)
        n = n * 10 + (uint64_t)(size[i] - '0');
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp (size + digits, units[i].unit) == 0)
            return n << units[i].shift;
    return 0;
}

static void add_hugetlb_size (struct limits *l, const struct oci_hugepage_limit *page,
                              const char *suffix)
{
    struct limit like = { .controller = "hugetlb",
                          .key = "hugepageLimits",
                          .check = CHECK_BYTES,
                          .granule = page_bytes (page->page_size) };

    if (like.granule == 0) {
        limit_refuse (l, like.controller, like.key,
                      "'%.64s' is no page size: a number and KB, MB or GB", page->page_size);
        return;
    }
    like.file = arena_printf (l->a, "hugetlb.%s.%s", page->page_size, suffix);
    limit_add (l, &like, "%" PRIu64, page->limit);
    /* Reservations are counted apart since 5.7: without a limit on them, mmap of more than the
     * limit succeeds and the first touch is SIGBUS. */
    like.optional = true;
    like.file = arena_printf (l->a, "hugetlb.%s.rsvd.%s", page->page_size, suffix);
    limit_add (l, &like, "%" PRIu64, page->limit);
    if (!like.file)
        l->failed = true;
}

void limit_add_hugetlb (struct limits *l, const struct oci_linux_resources *res, const char *suffix)
{
    for (size_t i = 0; i < res->n_hugepage_limits; i++)
        add_hugetlb_size (l, &res->hugepage_limits[i], suffix);
}

void limit_add_rdma (struct limits *l, const struct oci_linux_resources *res)
{
    static const struct limit like = { .controller = "rdma", .key = "rdma", .file = "rdma.max" };

    for (size_t i = 0; i < res->n_rdma; i++) {
        const struct oci_rdma *d = &res->rdma[i];

        if (d->has_hca_handles)
            limit_add (l, &like, "%s hca_handle=%" PRIu32, d->key, d->hca_handles);
        if (d->has_hca_objects)
            limit_add (l, &like, "%s hca_object=%" PRIu32, d->key, d->hca_objects);
    }
}
