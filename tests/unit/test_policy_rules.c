/*
 * Effective <= policy, always: thousands of random configs under several policies, held against a
 * second opinion of what each rule is for (policy_claims.c), which shares no code with the rules.
 *
 * With all rules no claim is ever broken; without one rule its claim is broken before long.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "policy/builtin.h"
#include "policy/merge.h"
#include "policy_claims.h"
#include "random_config.h"
#include "spec/resources.h"
#include "tap.h"

#define N_CASES 3000

/* ---- policies ---- */
static struct arena arena;

static struct policy policies[5];

/* BASE with TEXT in its place. */
static struct policy policy_of (const char *base, const char *text)
{
    struct policy p = { .name = base, .file = "/p.json" };
    struct policy b = { 0 };
    const void *own = NULL;
    struct err e = { 0 };

    if (oci_parse (&oci_policy_type, text, strlen (text), &arena, &own, NULL, &e) < 0 ||
        policy_from_builtin (base, &arena, &b, &e) < 0 ||
        policy_merge (b.doc, own, &arena, &p.doc, &e) < 0) {
        printf ("Bail out! %s\n", e.msg);
        exit (EXIT_FAILURE);
    }
    return p;
}

static void make_policies (void)
{
    policies[0] = policy_of ("strict", "{}");
    policies[1] = policy_of ("strict", "{\"identity\":\"unprivileged\",\"limits\":{\"pids\":9}}");
    policies[2] = policy_of ("system", "{}");
    policies[3] = policy_of ("oci", "{\"exec\":\"container\"}");
    policies[4] = policy_of ("oci", "{\"capabilities\":[\"CAP_KILL\"],\"limits\":{\"memory\":4096},"
                                    "\"paths\":{\"masked\":[\"/proc/own\"]}}");
}

/* ---- cases ---- */

/* The effective config of a container made of IN. False: there is no such container. */
static bool contain (const struct policy *p, struct policy_input *in, struct arena *a)
{
    struct policy_input container = *in;
    struct policy_result out;
    struct err e = { 0 };

    container.process = NULL;
    container.update = NULL;
    if (policy_apply (p, &container, a, &out, &e) < 0 || policy_refusal (&out, &e) < 0)
        return false;
    in->config = out.config;
    return true;
}

/* An exec, and an update, come to a container that is there. False: not to this one. */
static bool enter (const struct policy *p, struct policy_input *in, struct arena *a)
{
    struct spec_update u;
    struct err e = { 0 };

    if (!in->process && !in->update)
        return true;
    if (!contain (p, in, a))
        return false;
    if (!in->update)
        return true;
    if (spec_update_make (in->config, in->update, a, &u, &e) < 0)
        return false;
    in->config = u.config;
    in->update = u.asked;
    return true;
}

static bool applies (const struct claim *x, const struct policy_input *in)
{
    if (in->update)
        return x->scope == POLICY_LIMITS;
    if (in->process)
        return x->scope == POLICY_PROCESS || x->scope == POLICY_EXEC;
    return x->scope != POLICY_EXEC;
}

/* The first broken claim of one case; NULL: none, or it was refused. */
static const struct claim *broken (const struct policy *p, const struct policy_input *given,
                                   const struct policy_rule *rules, size_t n,
                                   const struct claim *only)
{
    static const struct oci_linux no_linux = { 0 };
    static const struct oci_linux_resources no_resources = { 0 };
    AUTO_ARENA a = { 0 };
    struct policy_result out;
    struct err e = { 0 };
    struct policy_input in = *given;
    struct view v = { .doc = p->doc, .in = &in, .out = &out, .a = &a };

    if (!enter (p, &in, &a))
        return NULL;
    if (policy_apply_rules (p, &in, rules, n, &a, &out, &e) < 0) {
        printf ("# %s\n", e.msg);
        return &policy_claims[0];
    }
    if (policy_refusal (&out, &e) < 0)
        return NULL;
    v.c = out.config;
    v.l = out.config->linux_ ?: &no_linux;
    v.r = v.l->resources ?: &no_resources;
    v.p = out.process;
    for (const struct claim *x = policy_claims; x < policy_claims + n_policy_claims; x++)
        if (applies (x, &in) && (!only || x == only) && x->is_broken (&v))
            return x;
    return NULL;
}

/* A case of SEED: the creation of a container, an exec or, UPDATE, other limits. */
static void make_case (uint64_t seed, bool update, struct arena *a, struct random_case *ret)
{
    random_case_make (seed, a, ret);
    if (!update)
        return;
    ret->in.process = NULL;
    ret->in.update = random_update_make (seed, a);
}

static void test_always (bool update)
{
    for (size_t k = 0; k < ARRAY_LEN (policies); k++) {
        const struct claim *x = NULL;
        uint64_t seed = 0;

        for (; seed < N_CASES && !x; seed++) {
            AUTO_ARENA a = { 0 };
            struct random_case c;

            make_case (seed, update, &a, &c);
            x = broken (&policies[k], &c.in, policy_rules, n_policy_rules, NULL);
        }
        (void)ok (!x, "%s %zu: no claim is broken%s%s%s", policies[k].name, k,
                  update ? " by an update" : "", x ? ", but " : "", x ? x->rule : "");
        if (x)
            printf ("# seed %llu\n", (unsigned long long)seed - 1);
    }
}

/* All rules but number K. */
static bool is_missed (size_t k, const struct claim *claim, bool update)
{
    AUTO_ARENA rules = { 0 };
    struct policy_rule *fewer = arena_calloc (&rules, n_policy_rules, sizeof *fewer);

    for (size_t i = 0, n = 0; i < n_policy_rules; i++)
        if (i != k)
            fewer[n++] = policy_rules[i];
    for (uint64_t seed = 0; seed < N_CASES; seed++) {
        AUTO_ARENA a = { 0 };
        struct random_case c;

        make_case (seed, update, &a, &c);
        for (size_t p = 0; p < ARRAY_LEN (policies); p++)
            if (broken (&policies[p], &c.in, fewer, n_policy_rules - 1, claim) == claim)
                return true;
    }
    return false;
}

/* Those of limits are missed by a container and, once it is there, by an update. */
static void test_each_rule (void)
{
    for (size_t k = 0; k < n_policy_rules; k++) {
        const struct policy_rule *rule = &policy_rules[k];
        const struct claim *claim = policy_claim_of (rule->name);

        (void)ok (claim && is_missed (k, claim, false), "without %s its claim is broken",
                  rule->name);
        if (rule->scope == POLICY_LIMITS)
            (void)ok (claim && is_missed (k, claim, true),
                      "without %s its claim is broken by an update", rule->name);
    }
}

/* Every difference between the two configs has a decision. */
static void test_decisions (bool update)
{
    size_t n = 0;

    for (uint64_t seed = 0; seed < N_CASES / 10; seed++) {
        AUTO_ARENA a = { 0 };
        struct random_case c;
        struct policy_result out;
        struct err e = { 0 };

        make_case (seed, update, &a, &c);
        for (size_t p = 0; p < ARRAY_LEN (policies); p++) {
            struct policy_input in = c.in;

            if (update && !enter (&policies[p], &in, &a))
                continue;
            if (policy_apply (&policies[p], &in, &a, &out, &e) < 0 ||
                (policy_refusal (&out, &e) == 0 && policy_check (&in, &out, &e) < 0)) {
                printf ("# seed %llu: %s\n", (unsigned long long)seed, e.msg);
                n++;
            }
        }
    }
    (void)ok (n == 0, "every difference has a decision%s", update ? ", of an update, too" : "");
}

/* The config of a container after the update ASKED, or NULL. */
static const struct oci_config *updated (const struct policy *p, const struct policy_input *made,
                                         const struct oci_linux_resources *asked, struct arena *a)
{
    struct policy_input in = *made;
    struct policy_result out;
    struct spec_update u;
    struct err e = { 0 };

    if (spec_update_make (made->config, asked, a, &u, &e) < 0)
        return NULL;
    in.process = NULL;
    in.config = u.config;
    in.update = u.asked;
    if (policy_apply (p, &in, a, &out, &e) < 0 || policy_refusal (&out, &e) < 0)
        return NULL;
    return out.config;
}

static bool are_equal (const struct oci_config *x, const struct oci_config *y, struct arena *a)
{
    const struct oci_difference *found;
    static const struct oci_linux none = { 0 };
    struct err e;
    size_t n = 0;

    return oci_diff (&oci_linux_type, x->linux_ ?: &none, y->linux_ ?: &none, a, &found, &n, &e) ==
               0 &&
           (n == 0 || (printf ("# %s: %s, %s\n", found->path, found->before, found->after), 0));
}

/* An update that asks for nothing, or for 0, or again for the same, changes nothing. */
static void test_idle_updates (void)
{
    static const struct oci_memory memory = { .has_limit = true, .has_swap = true };
    static const struct oci_cpu cpu = { .has_quota = true, .has_period = true, .has_shares = true };
    static const struct oci_device_cgroup deny = { .access = "rwm" };
    static const struct oci_linux_resources idle = {
        .memory = &memory, .cpu = &cpu, .devices = &deny, .n_devices = 1
    };
    size_t n = 0;

    for (uint64_t seed = 0; seed < N_CASES / 10; seed++) {
        for (size_t p = 0; p < ARRAY_LEN (policies); p++) {
            AUTO_ARENA a = { 0 };
            struct random_case c;
            struct policy_input in;
            const struct oci_config *after;

            make_case (seed, true, &a, &c);
            in = c.in;
            if (!contain (&policies[p], &in, &a))
                continue;
            after = updated (&policies[p], &in, &idle, &a);
            n += !after || !after->linux_->resources || !are_equal (in.config, after, &a);
            after = updated (&policies[p], &in, c.in.update, &a);
            in.config = after ?: in.config;
            n += after && !are_equal (after, updated (&policies[p], &in, c.in.update, &a), &a);
        }
    }
    (void)ok (n == 0, "what asks for nothing new changes nothing: %zu", n);
}

int main (void)
{
    make_policies ();
    test_always (false);
    test_always (true);
    test_decisions (false);
    test_decisions (true);
    test_each_rule ();
    test_idle_updates ();
    arena_free (&arena);
    return tap_done ();
}
