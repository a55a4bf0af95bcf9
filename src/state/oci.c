/* The state document that `state`, `list` and hooks show. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/num.h"

#define PASSWD     "etc/passwd"
#define PASSWD_MAX ((size_t)1024 * 1024)

/* The name in a line "NAME:PASSWORD:UID:..." if its uid is UID; cuts the line up. */
static const char *name_in_line (char *line, uid_t uid)
{
    struct err ignored; /* a line of another form is no answer */
    uint64_t n = 0;
    char *name = strsep (&line, ":");
    const char *id;

    (void)strsep (&line, ":");
    id = strsep (&line, ":");
    if (!id || num_u64 (id, "uid", 0, UINT32_MAX, &n, &ignored) < 0 || n != uid)
        return NULL;
    return name;
}

/* Not getpwuid: NSS would load libraries into the runtime (CVE-2019-14271). */
const char *state_owner (const struct oci_saved_state *saved, struct arena *a)
{
    struct err ignored; /* no passwd file: numbers do */
    AUTO_FD root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, &ignored);
    char *text = NULL;

    if (root >= 0 &&
        fd_read_file (root, PASSWD, PASSWD_MAX, FD_IN_ROOT, a, &text, NULL, &ignored) == 0)
        while (text) {
            const char *name = name_in_line (strsep (&text, "\n"), saved->owner);

            if (name)
                return name;
        }
    return arena_printf (a, "#%u", saved->owner);
}

void state_oci (const struct state *s, enum state_status status, struct oci_state *ret)
{
    const struct oci_saved_state *saved = s->saved;

    *ret = (struct oci_state){ .oci_version = saved->oci_version,
                               .id = saved->id,
                               .pid = status == STATUS_STOPPED ? 0 : saved->pid,
                               .has_pid = true,
                               .status = state_status_names[status],
                               .bundle = saved->bundle,
                               .rootfs = saved->rootfs,
                               .created = saved->created,
                               .annotations = saved->annotations,
                               .n_annotations = saved->n_annotations };
}
