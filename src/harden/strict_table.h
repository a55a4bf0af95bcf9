#pragma once
/*
 * The strict filter as data (strict.def) and its way into BPF. Only the generator, which runs when
 * agentrt is built, and the tests use it: no line of it is in the program. Needs nothing but libc,
 * for the machine that builds may be another one.
 */
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

enum strict_arch { STRICT_X86_64, STRICT_AARCH64, STRICT_ARCHES };
enum strict_kind { STRICT_GROUP, STRICT_CALL, STRICT_WHEN };

#define STRICT_TESTS 3

/* Holds when the lower half of the argument, masked, is the value. Mask 0: no test. */
struct strict_test {
    unsigned int arg;
    uint32_t mask, value;
};

struct strict_row {
    enum strict_kind kind;
    const char *name; /* of the group, the call, or what a WHEN is about */
    const char *why;
    int nr[STRICT_ARCHES]; /* -1: none */
    uint32_t verdict;      /* as seccomp(2) has it */
    struct strict_test tests[STRICT_TESTS];
};

extern const struct strict_row strict_rows[];
extern const size_t n_strict_rows;

/* The rows of a call: itself and its WHENs. */
size_t strict_call_rows (const struct strict_row *rows, size_t n, size_t call);

/* The filter that N rows make for an architecture, into OUT of BPF_MAXINSNS instructions. Returns
 * their number; -E2BIG when there are too many, -EEXIST when two rows have one number. */
int strict_compile (const struct strict_row *rows, size_t n, enum strict_arch arch,
                    struct sock_filter *out);
