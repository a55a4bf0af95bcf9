#pragma once
/*
 * A config that the rules work on, and the decisions that they leave behind.
 *
 * Copy on write: the draft holds its own copy of each object that a rule may change and of each
 * array that a rule may add to; everything else is shared with the given config, which stays as it
 * is. A rule changes a value only together with the decision that says so: by the helpers here, or
 * by draft_note beside it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/apply.h"

struct draft {
    struct arena *a;
    const struct policy *policy;
    const struct policy_facts *facts;
    const struct policy_input *in;
    const struct policy_rule *rule; /* the one at work */
    struct policy_decision *decisions;
    size_t n_decisions, max_decisions;
    struct policy_controls controls;
    struct err *e;

    /* What the policy says, with what annotations may ask for already in it. */
    struct oci_policy doc;
    struct oci_policy_rootfs doc_rootfs;
    struct oci_policy_tmpfs doc_tmp, doc_shm;
    struct oci_policy_mounts doc_mounts;
    struct oci_policy_devices doc_devices;
    struct oci_policy_limits doc_limits;

    /* The config so far; by draft_linux () and its like. */
    struct oci_config config;
    struct oci_root root;
    struct oci_process process;
    struct oci_user user;
    struct oci_capabilities caps;
    struct oci_linux linux_;
    struct oci_linux_resources resources;
    struct oci_memory memory;
    struct oci_cpu cpu;
    struct oci_pids pids;
    struct oci_linux_seccomp seccomp;
    struct oci_scheduler scheduler;

    /* Room for as many as the rules may add. */
    struct oci_mount *mounts;
    size_t *mount_origin; /* index in the given config; SIZE_MAX: a rule's own */
    struct oci_namespace *namespaces;
    struct oci_rlimit *rlimits;
};

int draft_begin (struct draft *d);

/* ---- parts, made when they are not there ---- */
struct oci_process *draft_process (struct draft *d);
struct oci_linux *draft_linux (struct draft *d);
struct oci_linux_resources *draft_resources (struct draft *d);
struct oci_memory *draft_memory (struct draft *d);
struct oci_cpu *draft_cpu (struct draft *d);
struct oci_pids *draft_pids (struct draft *d);

/* The given config has a namespace of KIND, made or joined. */
bool draft_had_namespace (const struct draft *d, int kind);

/* requests.c: what annotations ask for becomes part of the draft's policy, or a refusal. */
int draft_take_requests (struct draft *d);

/* ---- decisions ---- */

/* Leaves a decision; the rule and, where X has none, its reason come from the rule at work. A
 * tightening becomes a refusal where the policy says so. X's strings must live as long as the
 * arena; NULL as path is out of memory. */
int draft_note (struct draft *d, const struct policy_decision *x);
/* Takes away the annotations whose key IS_DROPPED; each is noted as LIKE, which gives the rule and
 * the reason, or NULL for those of the rule that runs. */
int draft_drop_annotations (struct draft *d, bool (*is_dropped) (const char *key),
                            const struct policy_decision *like);
int draft_refuse (struct draft *d, const char *path, const char *before, const char *reason);
/* areas.c: one for each area of the config that no decision is about. */
int draft_note_kept (struct draft *d);

/* ---- setting ---- */

/* Makes a flag of the config WANT. */
int draft_set_bool (struct draft *d, const char *path, bool *has, bool *value, bool want);
/* Keeps a number at or below CEILING; what is absent, or outside LOW..CEILING, becomes CEILING.
 * CEILING -1: leaves it. */
int draft_cap_number (struct draft *d, const char *path, bool *has, int64_t *value, int64_t low,
                      int64_t ceiling);
/* Appends what is not in a list of strings yet. */
struct draft_list {
    const char *path;
    const char *const **list;
    size_t *n;
};
int draft_add_strings (struct draft *d, const struct draft_list *l, const char *const *more,
                       size_t n_more);
/* Leaves of a list of strings what is in KEEP. */
int draft_keep_strings (struct draft *d, const struct draft_list *l, const char *const *keep,
                        size_t n_keep);

/* ---- mounts ---- */
const char *draft_mount_path (const struct draft *d, size_t i);
/* The text form of mount I. */
const char *draft_mount_text (const struct draft *d, size_t i);
/* Mount I gets OPTIONS (N) in the place of its own. */
int draft_mount_options (struct draft *d, size_t i, const char *const *options, size_t n);
/* Mount I gets one more option, which overrules what stands before it. */
int draft_mount_add (struct draft *d, size_t i, const char *option);
int draft_mount_drop (struct draft *d, size_t i, const char *reason);
/* One more, as mount I. */
int draft_mount_new (struct draft *d, size_t i, const struct oci_mount *m);

/* ---- text ---- */
const char *draft_words (struct arena *a, const char *const *list, size_t n);
const char *draft_number (struct arena *a, int64_t n);
bool draft_has (const char *const *list, size_t n, const char *s);
