/*
 * Hooks: the state document that they read, for each of the six kinds.
 */
#include "base/cleanup.h"
#include "exec/run.h"
#include "hook/hook.h"
#include "plan/steps.h"

/* What a hook reads on stdin: the OCI state with this status and pid. */
static int state_text (struct run *r, enum state_status status, pid_t pid, struct strbuf *out,
                       struct err *e)
{
    struct oci_saved_state now = *r->state.saved;
    struct state s = r->state;
    struct oci_state doc;

    now.pid = pid;
    s.saved = &now;
    state_oci (&s, status, &doc);
    return oci_emit (&oci_state_type, &doc, OCI_COMPACT, out, e);
}

/* The runtime's hooks start in the bundle; the container's where its process is: in its root. */
static const char *hook_cwd (const struct run *r, int kind)
{
    bool inside = kind == HOOK_CREATE_CONTAINER || kind == HOOK_START_CONTAINER;

    return inside ? NULL : r->state.saved->bundle;
}

/* What the container's process gets only after these hooks. They are programs of its image as well,
 * so they get it too. */
static int confine (const void *data, struct err *e)
{
    const struct run *r = data;
    int result = rlimit_set (&r->plan.process, 0, e);

    if (result == 0 && plan_wants_seccomp_floor (&r->plan))
        result = strict_install (e);
    if (result == 0 && plan_wants_seccomp (&r->plan))
        result = listener_install_filter (r, e);
    return result;
}

int run_hooks (struct run *r, int kind, enum state_status status, pid_t pid, struct err *e)
{
    const struct oci_hooks *hooks = r->plan.hooks;
    AUTO_STRBUF text = { 0 };
    struct hook_call call = { .kind = (enum hook_kind)kind,
                              .cwd = hook_cwd (r, kind),
                              .signals = r->signals,
                              .others = r->pid };
    size_t n;
    int result;

    (void)hook_list (hooks, call.kind, &n);
    if (n == 0)
        return 0;
    result = state_text (r, status, pid, &text, e);
    if (result < 0)
        return result;
    call.state_json = text.s;
    if (kind == HOOK_START_CONTAINER) {
        call.default_env = r->plan.process.env;
        call.confine = confine;
        call.data = r;
    }
    return hook_run (hooks, &call, e);
}
