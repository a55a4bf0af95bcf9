#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "spec.h"

#define AT "/linux/seccomp"

/* The most an action's number may be; 0: the action has none. seccomp(2): SECCOMP_RET_DATA is 16
 * bits, errno ends at MAX_ERRNO. */
static const uint32_t errno_max[] = {
    [OCI_ACT_ERRNO] = 4095,
    [OCI_ACT_TRACE] = 65535,
    [OCI_ACT_NOTIFY] = 0,
};

static int check_errno (int action, uint32_t value, const char *at, struct err *e)
{
    if (!errno_max[action])
        return err_set (e, EINVAL, "%s: %s has none", at,
                        oci_enum_name (&oci_seccomp_action_enum, action));
    if (value > errno_max[action])
        return err_set (e, EINVAL, "%s: %u is more than %u", at, value, errno_max[action]);
    return 0;
}

static int check_syscall (const struct oci_syscall *s, size_t i, struct err *e)
{
    char at[64];

    if (!s->n_names)
        return err_set (e, EINVAL, AT "/syscalls[%zu]/names: must not be empty", i);
    for (size_t k = 0; k < s->n_names; k++)
        if (!*s->names[k])
            return err_set (e, EINVAL, AT "/syscalls[%zu]/names[%zu]: must not be empty", i, k);
    for (size_t k = 0; k < s->n_args; k++)
        if (s->args[k].index > 5)
            return err_set (e, EINVAL, AT "/syscalls[%zu]/args[%zu]/index: more than 5", i, k);
    (void)snprintf (at, sizeof at, AT "/syscalls[%zu]/errnoRet", i);
    return s->has_errno_ret ? check_errno (s->action, s->errno_ret, at, e) : 0;
}

bool spec_seccomp_notifies (const struct oci_linux_seccomp *s)
{
    for (size_t i = 0; i < s->n_syscalls; i++)
        if (s->syscalls[i].action == OCI_ACT_NOTIFY)
            return true;
    return false;
}

/* Those that let a call happen, or may: the listener decides. */
static bool is_passing (int action)
{
    return action == OCI_ACT_ALLOW || action == OCI_ACT_LOG || action == OCI_ACT_TRACE ||
           action == OCI_ACT_NOTIFY;
}

static bool names_call (const struct oci_syscall *s, const char *call)
{
    for (size_t i = 0; i < s->n_names; i++)
        if (strcmp (s->names[i], call) == 0)
            return true;
    return false;
}

/* The filter is loaded before execve. One that never lets it through starts nothing, and the set-up
 * could not even say so: it may forbid write and exit as well. */
static bool passes_execve (const struct oci_linux_seccomp *s)
{
    bool denied = false;

    for (size_t i = 0; i < s->n_syscalls; i++) {
        if (!names_call (&s->syscalls[i], "execve"))
            continue;
        if (is_passing (s->syscalls[i].action))
            return true;
        denied = denied || s->syscalls[i].n_args == 0;
    }
    return !denied && is_passing (s->default_action);
}

/* Without a listener the rules have nobody to ask; without rules nobody is asked (as runc). */
static int check_listener (const struct oci_linux_seccomp *s, struct err *e)
{
    bool has_path = s->listener_path && *s->listener_path;

    if (s->listener_metadata && !s->listener_path)
        return err_set (e, EINVAL, AT "/listenerMetadata: only together with listenerPath");
    if (s->default_action == OCI_ACT_NOTIFY)
        return err_set (e, EINVAL,
                        AT "/defaultAction: SCMP_ACT_NOTIFY cannot be used as default action");
    if (!spec_seccomp_notifies (s))
        return 0;
    if (!has_path)
        return err_set (e, EINVAL, AT "/listenerPath: SCMP_ACT_NOTIFY needs it");
    if (!spec_is_absolute (s->listener_path))
        return err_set (e, EINVAL, AT "/listenerPath: must be absolute");
    return 0;
}

int spec_check_seccomp (const struct oci_linux *l, struct err *e)
{
    const struct oci_linux_seccomp *s = l->seccomp;

    if (!s)
        return 0;
    if (s->has_default_errno_ret &&
        check_errno (s->default_action, s->default_errno_ret, AT "/defaultErrnoRet", e) < 0)
        return -e->code;
    if (check_listener (s, e) < 0)
        return -e->code;
    for (size_t i = 0; i < s->n_syscalls; i++)
        if (check_syscall (&s->syscalls[i], i, e) < 0)
            return -e->code;
    if (!passes_execve (s))
        return err_set (e, EINVAL, AT ": does not let execve through, so no process could start");
    return 0;
}
