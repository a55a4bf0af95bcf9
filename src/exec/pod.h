#pragma once
/*
 * Pods: which of the namespaces that a config asks to join are those of a container of the same
 * pod, known to the same state root, of the same user and under the same policy.
 *
 * Finds facts, decides nothing: policy_apply judges them. What is found stays open until pod_close,
 * so that no other namespace can come to have its identity meanwhile.
 */
#include "ns/ns.h"
#include "policy/joins.h"
#include "policy/policy.h"

struct pod {
    const struct policy_join *joins; /* one for each namespace of the config; NULL: it joins none */
    int fd[NS_COUNT];                /* JOIN_POD: the namespace, else -1 */
};

struct pod_query {
    int root; /* the state root; -1: there is none yet, and so no other container */
    const struct oci_config *config;
    const struct policy *policy;
    bool without_network; /* the policy says so: only an own network namespace may be shared */
};

/* Everything at "nothing found". */
void pod_init (struct pod *p);

/* The pod that annotations name, or NULL: containerd's CRI, and CRI-O's names, which Podman
 * uses. */
const char *pod_name (const struct oci_kv *annotations, size_t n);

/* A container that has gone, or has no readable state, is nobody's pod. */
int pod_look (const struct pod_query *q, struct arena *a, struct pod *ret, struct err *e);
void pod_close (struct pod *p);

/* What was opened to be joined (ns_prepare) is what pod_look found. */
int pod_check (const struct pod *p, const struct plan *plan, const struct ns_fds *f, struct err *e);
