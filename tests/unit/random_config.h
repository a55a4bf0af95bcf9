#pragma once
/*
 * Configs at random: what an engine may send and what it never would, each part there or not.
 * The same seed gives the same config.
 */
#include "policy/apply.h"

struct random_case {
    struct policy_input in;
    struct guard_finding found[32];
    struct guard_findings findings;
};

/* A container's config; every fourth seed an exec into one. */
void random_case_make (uint64_t seed, struct arena *a, struct random_case *ret);

/* What an update of any container may ask for. */
const struct oci_linux_resources *random_update_make (uint64_t seed, struct arena *a);
