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

/* An exec's config is the effective one of its container. False: there is no such container. */
static bool enter (const struct policy *p, struct policy_input *in, struct arena *a)
{
    struct policy_input container = *in;
    struct policy_result out;
    struct err e = { 0 };

    if (!in->process)
        return true;
    container.process = NULL;
    if (policy_apply (p, &container, a, &out, &e) < 0 || policy_refusal (&out, &e) < 0)
        return false;
    in->config = out.config;
    return true;
}

/* The first broken claim of one case; NULL: none, or it was refused. */
static const struct claim *broken (const struct policy *p, const struct random_case *c,
                                   const struct policy_rule *rules, size_t n,
                                   const struct claim *only)
{
    static const struct oci_linux no_linux = { 0 };
    static const struct oci_linux_resources no_resources = { 0 };
    AUTO_ARENA a = { 0 };
    struct policy_result out;
    struct err e = { 0 };
    struct policy_input in = c->in;
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
    for (const struct claim *x = policy_claims; x < policy_claims + n_policy_claims; x++) {
        bool applies = in.process ? x->scope >= POLICY_PROCESS : x->scope != POLICY_EXEC;

        if (applies && (!only || x == only) && x->is_broken (&v))
            return x;
    }
    return NULL;
}

static void test_always (void)
{
    for (size_t k = 0; k < ARRAY_LEN (policies); k++) {
        const struct claim *x = NULL;
        uint64_t seed = 0;

        for (; seed < N_CASES && !x; seed++) {
            AUTO_ARENA a = { 0 };
            struct random_case c;

            random_case_make (seed, &a, &c);
            x = broken (&policies[k], &c, policy_rules, n_policy_rules, NULL);
        }
        (void)ok (!x, "%s %zu: no claim is broken%s%s", policies[k].name, k, x ? ", but " : "",
                  x ? x->rule : "");
        if (x)
            printf ("# seed %llu\n", (unsigned long long)seed - 1);
    }
}

/* All rules but number K. */
static bool is_missed (size_t k, const struct claim *claim)
{
    AUTO_ARENA rules = { 0 };
    struct policy_rule *fewer = arena_calloc (&rules, n_policy_rules, sizeof *fewer);

    for (size_t i = 0, n = 0; i < n_policy_rules; i++)
        if (i != k)
            fewer[n++] = policy_rules[i];
    for (uint64_t seed = 0; seed < N_CASES; seed++) {
        AUTO_ARENA a = { 0 };
        struct random_case c;

        random_case_make (seed, &a, &c);
        for (size_t p = 0; p < ARRAY_LEN (policies); p++)
            if (broken (&policies[p], &c, fewer, n_policy_rules - 1, claim) == claim)
                return true;
    }
    return false;
}

static void test_each_rule (void)
{
    for (size_t k = 0; k < n_policy_rules; k++) {
        const struct claim *claim = policy_claim_of (policy_rules[k].name);

        (void)ok (claim && is_missed (k, claim), "without %s its claim is broken",
                  policy_rules[k].name);
    }
}

/* Every difference between the two configs has a decision. */
static void test_decisions (void)
{
    size_t n = 0;

    for (uint64_t seed = 0; seed < N_CASES / 10; seed++) {
        AUTO_ARENA a = { 0 };
        struct random_case c;
        struct policy_result out;
        struct err e = { 0 };

        random_case_make (seed, &a, &c);
        for (size_t p = 0; p < ARRAY_LEN (policies); p++)
            if (policy_apply (&policies[p], &c.in, &a, &out, &e) < 0 ||
                (policy_refusal (&out, &e) == 0 && policy_check (&c.in, &out, &e) < 0)) {
                printf ("# seed %llu: %s\n", (unsigned long long)seed, e.msg);
                n++;
            }
    }
    (void)ok (n == 0, "every difference has a decision");
}

int main (void)
{
    make_policies ();
    test_always ();
    test_decisions ();
    test_each_rule ();
    arena_free (&arena);
    return tap_done ();
}
