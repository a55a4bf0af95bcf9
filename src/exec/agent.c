/*
 * The runtime's side of SCMP_ACT_NOTIFY: one connection to /linux/seccomp/listenerPath for each
 * filter, which gets a ContainerProcessState and the descriptor (config-linux.md, "The Container
 * Process State"). The connection is made and closed here, on the host's side: nothing of it ever
 * reaches the container.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "exec/run.h"

#define AT "/linux/seccomp/listenerPath: failed to connect with seccomp agent"

/* Before anything is made: the agent itself is asked when there is a filter, for a connection that
 * carries nothing would only confuse it. */
int agent_look (const struct oci_linux_seccomp *s, struct err *e)
{
    AUTO_FD fd = fd_open (AT_FDCWD, s->listener_path, O_PATH, FD_HOST, e);
    struct stat st;

    if (fd < 0)
        return err_add (e, AT);
    if (fstat (fd, &st) < 0 || !S_ISSOCK (st.st_mode))
        return err_set (e, ENOTSOCK, AT ": '%s' is no socket", s->listener_path);
    return 0;
}

static enum state_status status_now (const struct run *r)
{
    if (r->exec)
        return STATUS_RUNNING;
    return r->saved.creating ? STATUS_CREATING : STATUS_CREATED;
}

/* exec without no_new_privs: the filter is loaded by the process that sets the other one up. */
static int state_text (const struct run *r, struct strbuf *out, struct err *e)
{
    static const char *const fds[] = { "seccompFd", NULL };
    struct oci_saved_state saved = r->saved;
    struct state s = { .saved = &saved };
    struct oci_state state;
    struct oci_process_state doc = { .oci_version = OCI_VERSION,
                                     .fds = fds,
                                     .n_fds = ARRAY_LEN (fds) - 1,
                                     .pid = r->pid > 0 ? r->pid : r->saved.pid,
                                     .metadata = r->plan.seccomp->listener_metadata,
                                     .state = &state };

    if (!r->exec)
        saved.pid = doc.pid;
    state_oci (&s, status_now (r), &state);
    return oci_emit (&oci_process_state_type, &doc, OCI_COMPACT, out, e);
}

int agent_hand_over (const struct run *r, int fd, struct err *e)
{
    AUTO_STRBUF text = { 0 };
    AUTO_FD sock = fd_connect_unix (r->plan.seccomp->listener_path, e);
    int result;

    if (sock < 0)
        return err_add (e, AT);
    result = state_text (r, &text, e);
    if (result < 0)
        return result;
    result = fd_send (sock, text.s, text.len, fd);
    return result < 0 ? err_set (e, -result,
                                 "/linux/seccomp/listenerPath: send the descriptor to the seccomp "
                                 "agent: %s",
                                 strerrorname_np (-result) ?: "unknown error")
                      : 0;
}
