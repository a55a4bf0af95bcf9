#pragma once
/*
 * policy_apply: config x policy x facts of the host = the effective config, the controls that no
 * config can say, and one decision for every difference.
 *
 * Pure: asks the host nothing; what it must know comes in as facts, which exec/ and the guard look
 * up before. The rules are one table (rules.def); each is one small function that works on a draft
 * of the config (draft.h).
 */
#include "policy/guard.h"
#include "policy/joins.h"
#include "policy/policy.h"

/* ---- in ---- */

/* What was found on the host. */
struct policy_facts {
    bool known; /* false: explain, which may have looked at less than a start does; rules say so */
    const struct guard_findings *guard; /* the root counts as one more mount; NULL: nobody looked */
    const struct policy_join *joins;    /* one for each namespace of the config; NULL: likewise */
    /* The range of ids for identity `userns`; none: there is none. */
    const struct oci_id_mapping *uid_map, *gid_map;
    size_t n_uid_map, n_gid_map;
    const char *ids_note;     /* explain: the range only stands for one; what to say about that */
    const char *outer_cgroup; /* another container's, that cgroupsPath lies in; NULL: none */
    int oom_score_adj;        /* the caller's own */
    uint64_t nofile_hard;     /* the caller's own hard limit of open files; 0: not known */
};

struct policy_input {
    const struct oci_config *config;   /* as given; exec: the container's effective one */
    const struct oci_process *process; /* exec: the process as asked for; NULL: no exec */
    /* mounts add: CONFIG is the container's effective one, but for its mounts, which are those to
     * be added. */
    bool adds_mounts;
    /* update: what it asks for; CONFIG then has it already. NULL: no update. */
    const struct oci_linux_resources *update;
    struct policy_facts facts;
};

/* ---- out ---- */

enum policy_action { POLICY_KEPT, POLICY_TIGHTENED, POLICY_ADDED, POLICY_REFUSED };
extern const char *const policy_action_names[];

struct policy_decision {
    const char *path; /* JSON path in the given config: "/process/noNewPrivileges" */
    enum policy_action action;
    const char *before, *after; /* text forms; NULL: absent */
    const char *rule;           /* its name in rules.def; NULL: no rule touches this */
    const char *reason;
};

/* What an effective config cannot say. */
struct policy_controls {
    bool own_network;             /* an empty network namespace takes the place of the config's */
    bool seccomp_floor;           /* agentrt's own filter, beside the config's */
    bool root_nosuid, root_nodev; /* flags of the root mount */
    bool idmap_root;              /* the root is seen through the ids of the user namespace */
};

struct policy_result {
    const struct policy *policy;
    const struct oci_config *config;   /* the effective config */
    const struct oci_process *process; /* exec: the effective process; else the config's */
    struct policy_controls controls;
    const struct policy_decision *decisions;
    size_t n_decisions;
};

/* ---- the rules ---- */
enum policy_scope { POLICY_CONFIG, POLICY_MOUNTS, POLICY_LIMITS, POLICY_PROCESS, POLICY_EXEC };
struct draft;

/* What a rule of SCOPE is for is asked of IN. */
bool policy_is_in_scope (enum policy_scope scope, const struct policy_input *in);

/* A row of rules.def. */
struct policy_rule {
    const char *name;
    enum policy_scope scope;
    const char *governs;
    int (*apply) (struct draft *d);
    const char *why;
};

extern const struct policy_rule policy_rules[];
extern const size_t n_policy_rules;

/* *RET: in the arena; what no rule touched is shared with the input. A refusal is a decision too,
 * and no error here: see policy_refusal. -ENOMEM. */
int policy_apply (const struct policy *policy, const struct policy_input *in, struct arena *a,
                  struct policy_result *ret, struct err *e);

/* The same with another table: the tests leave rules out. */
int policy_apply_rules (const struct policy *policy, const struct policy_input *in,
                        const struct policy_rule *rules, size_t n, struct arena *a,
                        struct policy_result *ret, struct err *e);

/* -EPERM with the first refusal of RESULT: where, which rule of which policy, why. 0: none. */
int policy_refusal (const struct policy_result *result, struct err *e);

/* -EINVAL when RESULT's config differs from the given one in a place that no decision names. */
int policy_check (const struct policy_input *in, const struct policy_result *result, struct err *e);

/* "limits.memory" for "/linux/resources/memory/limit": the rule of RESULT that decided on PATH or
 * above it, NULL: none did. */
const char *policy_rule_of (const struct policy_result *result, const char *path);
/* Likewise the first one that changed something at PATH or below it. */
const char *policy_rule_under (const struct policy_result *result, const char *path);
