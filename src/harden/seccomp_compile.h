#pragma once
/*
 * From an OCI profile to BPF, in three parts: calls too new for the profile, calls with several
 * conditional rules, and what libseccomp makes of the profile. Internal to harden/.
 */
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

struct seccomp_part {
    struct sock_filter *insns; /* in the arena */
    size_t n;
};

/* The whole filter, of at most BPF_MAXINSNS instructions. */
int seccomp_compile (const struct oci_linux_seccomp *s, struct arena *a, struct seccomp_part *ret,
                     struct err *e);

/* libseccomp's token of an OCI_ARCH_*, 0 if this libseccomp does not know it. */
unsigned int seccomp_arch_token (int arch);

/* ACTION with its errno or message as seccomp(2) has it; EPERM when none is given. */
int seccomp_action (int action, bool has_data, uint32_t data, uint32_t *ret, struct err *e);

/* The number of NAME on an architecture; negative when it has none. */
int seccomp_number (unsigned int token, const char *name);

/* ENOSYS for system calls newer than any the profile names. Falls through for all others; empty
 * where the default action lets calls pass. TOKENS: the filter's architectures. */
int seccomp_stub (const struct oci_linux_seccomp *s, const unsigned int *tokens, size_t n_tokens,
                  struct arena *a, struct seccomp_part *ret, struct err *e);

/* Calls that have several rules, or alternatives, with conditions and no rule without.
 * libseccomp would merge them into one tree, and before 2.6.1 it gets 64-bit comparisons wrong
 * when it does, both ways (GHSA-4q85-33p6-j5g6), or never ends. What a profile means must not
 * depend on its version. */
struct seccomp_merged {
    const struct seccomp_rule_of *list; /* in the arena, by name, then in the profile's order */
    size_t n;
};
int seccomp_merged (const struct oci_linux_seccomp *s, struct arena *a, struct seccomp_merged *ret,
                    struct err *e);
bool seccomp_is_merged (const struct seccomp_merged *merged, const char *name);

/* Decides them: the first rule that holds counts, else DEFAULT_ACTION. Falls through for all
 * others. On i386 it is about the direct calls; socketcall and ipc need rules of their own. */
int seccomp_conditions (const struct seccomp_merged *merged, const unsigned int *tokens,
                        size_t n_tokens, uint32_t default_action, struct arena *a,
                        struct seccomp_part *ret, struct err *e);
