#pragma once
/*
 * Limits as a list of writes. limits_v1 and limits_v2 turn the config's resources into "write
 * VALUE to FILE of CONTROLLER"; they are pure, so unit tests see all of them on any host.
 * limits.c finds the cgroup for each, writes and reads back.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/ocispec.h"

/* How the value that the kernel tells is compared with the one that was written. */
enum limit_check {
    CHECK_TOKENS, /* all words of EXPECT stand on one line of the file */
    CHECK_BYTES, /* a number that the kernel rounds down to pages and cuts off at its own maximum */
    CHECK_LIST,  /* sets of numbers: "0,1" is "0-1" */
    CHECK_NONE,  /* not told by the file */
};

struct limit {
    const char *controller; /* "memory"; of v2 "io" where v1 has "blkio" */
    const char *key;        /* below /linux/resources: "memory/limit" */
    const char *file, *value;
    const char *alt_file, *alt_value; /* for kernels without FILE; NULL: none */
    const char *expect;               /* CHECK_TOKENS; NULL: VALUE */
    enum limit_check check;
    uint64_t granule;    /* CHECK_BYTES: rounding, 0 = the page size */
    bool optional;       /* a kernel without the file is fine */
    bool is_swap;        /* a kernel without the file is fine while the host has no swap */
    bool keep_first;     /* the file's first word stays: it is put before VALUE */
    const char *problem; /* it cannot be written at all, and why; else NULL */

    /* limits.c */
    struct limit *next;
    const struct cgroup_hierarchy *h;
    bool pending; /* refused once, as another value must change first */
};

struct limits {
    struct arena *a;
    bool failed; /* memory ran out: the list is not complete */
    struct limit *first, *last;
};

/* Appends LIKE with the formatted value. LIKE's strings live as long as the list. */
void limit_add (struct limits *l, const struct limit *like, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Appends one that is refused, if its controller turns out to be where the list is for. */
void limit_refuse (struct limits *l, const char *controller, const char *key, const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));

/* One scalar of the config that becomes one write. */
struct limit_row {
    struct limit like;
    size_t group;  /* of the pointer to the section, in struct oci_linux_resources */
    size_t member; /* in the section */
    size_t has;    /* of its has_ flag */
    enum { ROW_I64, ROW_U64, ROW_U16, ROW_BOOL, ROW_TEXT } type;
    /* The text for VALUE (a signed one as its two's complement); false: nothing was asked for. */
    bool (*text) (uint64_t value, char *buf, size_t size);
};
#define LIMIT_ROW(section, m)                                                                      \
    .group = offsetof (struct oci_linux_resources, section),                                       \
    .member = offsetof (struct oci_##section, m), .has = offsetof (struct oci_##section, has_##m)
#define LIMIT_TEXT_ROW(section, m)                                                                 \
    .group = offsetof (struct oci_linux_resources, section),                                       \
    .member = offsetof (struct oci_##section, m), .type = ROW_TEXT

void limit_add_rows (struct limits *l, const struct oci_linux_resources *res,
                     const struct limit_row *rows, size_t n);

bool limit_text_signed (uint64_t value, char *buf, size_t size);   /* 0: unset */
bool limit_text_unsigned (uint64_t value, char *buf, size_t size); /* 0: unset */
bool limit_text_any (uint64_t value, char *buf, size_t size);      /* unsigned, 0 too */
bool limit_text_true (uint64_t value, char *buf, size_t size);     /* "1"; false: unset */
bool limit_text_pids (uint64_t value, char *buf, size_t size);

/* The writes that v1 and v2 have in common but for the file's name. */
void limit_add_hugetlb (struct limits *l, const struct oci_linux_resources *res,
                        const char *suffix);
void limit_add_rdma (struct limits *l, const struct oci_linux_resources *res);

void limits_v1 (struct limits *l, const struct oci_linux_resources *res);
void limits_v2 (struct limits *l, const struct oci_linux_resources *res);

/* cgroup v1's shares (2..262144, 1024 the default) as v2's weight (1..10000, 100 the default): the
 * quadratic map of runc, crun and kubelet since 2025, which maps default to default; 0 is unset. */
uint64_t limit_cpu_weight (uint64_t shares);
/* blkio's weight (10..1000) as io.weight (1..10000), linear. */
uint64_t limit_io_weight (uint64_t weight);

/* Does TEXT, read from the kernel, say what was asked for? */
bool limit_is_kept (const struct limit *m, const char *value, const char *text);
