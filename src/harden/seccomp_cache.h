#pragma once
/*
 * Compiled filters, one file each, below a folder that only we can write. Internal to harden/.
 */
#include <stdbool.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"
#include "libocispec/strbuf.h"
#include "seccomp_compile.h"

/* Everything that the filter of a profile is made from, unambiguously: versions, native
 * architecture, every rule with the lengths of its strings. The kernel's release is not in it:
 * libseccomp writes the same filter whatever kernel runs. Flags and listener are not either: they
 * do not go into the BPF. */
void seccomp_cache_key (const struct oci_linux_seccomp *s, struct strbuf *key);

/* True when there is an undamaged entry for exactly this key, made by us. Its instructions are then
 * in the arena. */
bool seccomp_cache_find (int dir, const struct strbuf *key, struct arena *a,
                         struct seccomp_part *ret);

/* Keeps a filter, and drops the oldest entries over 128. A cache that cannot be written is no
 * error: the next start compiles again. */
void seccomp_cache_store (int dir, const struct strbuf *key, const struct seccomp_part *filter);
