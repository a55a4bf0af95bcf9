#pragma once
/*
 * The facts of the host that a plan needs, looked up before it is built, and what is told about it.
 */
#include "exec/run.h"
#include "plan/build.h"

/* The absolute path of an open folder. */
int facts_path (int dir, struct arena *a, const char **ret, struct err *e);

/* Privilege, capabilities, limits; PRESERVE_FDS and LISTEN_FDS, whose descriptors must be open. */
int facts_look (unsigned int preserve_fds, struct arena *a, struct plan_host *ret, struct err *e);

/* Notes what could not be granted (capabilities) or is not known (capability names). */
void facts_note (const struct run *r);

/* What POLICY's mount guard finds out about the binds of IN's config. STATE_ROOT may be NULL. */
int facts_guard (const struct policy *policy, const char *bundle, const char *state_root,
                 struct policy_input *in, struct arena *a, struct err *e);

/* explain: what stands for the range of ids that a start would take under POLICY, with a note that
 * says so, and whether this host has any. */
int facts_ids (const struct policy *policy, struct policy_input *in, struct arena *a,
               struct err *e);

/* The config's annotations, and what the policy did. */
int facts_annotations (const struct run *r, struct oci_saved_state *ret, struct err *e);

/* RET for state.json of a container that is being created. */
int facts_saved_state (struct run *r, struct oci_saved_state *ret, struct err *e);

/* The cgroup's part of RET, as it is now. */
int facts_saved_cgroup (struct run *r, struct oci_saved_state *ret, struct err *e);
