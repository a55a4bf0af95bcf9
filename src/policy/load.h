#pragma once
/*
 * Which policy is used, from a name, a file or the default, and what it is once everything that it
 * extends is merged.
 */
#include "policy/policy.h"

#define POLICY_FILE    "/etc/agentrt/policy.json"
#define POLICY_DEFAULT "strict"

/* How many policies may extend each other in a row. */
#define POLICY_MAX_DEPTH 8

/* WANTED is what --policy says: a built-in name, or a file if it has a '/'. NULL: POLICY_FILE, and
 * POLICY_DEFAULT where there is none. A file that cannot be trusted (policy/file.h), read or
 * understood is an error, never a reason to use another one. RET lives in the arena. */
int policy_load (const char *wanted, struct arena *a, struct policy *ret, struct err *e);

/* The same for FILE; it being absent is -ENOENT. */
int policy_load_file (const char *file, struct arena *a, struct policy *ret, struct err *e);

/* Fills in the digest of RET's document. */
int policy_digest (struct policy *ret, struct arena *a, struct err *e);
