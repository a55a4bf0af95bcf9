/* spec: a config.json to begin with. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cmd/cmd.h"
#include "spec/spec.h"

struct spec_options {
    const char *bundle;
    bool rootless;
};

#define AT(member) offsetof (struct spec_options, member)

static const struct opt spec_table[] = {
    { "bundle", 'b', OPT_TEXT, AT (bundle), "DIR", "the bundle (default: the current directory)" },
    { "rootless", 0, OPT_FLAG, AT (rootless), NULL, "for an ordinary user" },
    {},
};

/* Never over a file that is there, which may be somebody's work. */
static int write_new (int dir, const struct strbuf *text, struct err *e)
{
    AUTO_FD fd = fd_open_mode (dir, "config.json", O_WRONLY | O_CREAT | O_EXCL, 0644, FD_HOST, e);
    int r;

    if (fd == -EEXIST)
        return err_set (e, EEXIST, "config.json exists already and is not overwritten");
    if (fd < 0)
        return fd;
    r = fd_write_all (fd, text->s, text->len);
    if (r == 0)
        return 0;
    (void)unlinkat (dir, "config.json", 0);
    errno = -r;
    return err_sys (e, "write config.json");
}

/* Only on cgroup v2 does the default mount show a container its own group alone; on v1 configs have
 * no cgroup namespace by default, as with runc, and what reads /proc/PID/cgroup relies on it. A
 * policy adds one where it wants one. */
static bool is_cgroup_v2 (void)
{
    struct statfs fs;

    return statfs ("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int run_spec (const struct call *c, struct err *e)
{
    const struct spec_options *o = c->options;
    const struct spec_default_options want = { .rootless = o->rootless,
                                               .cgroup_namespace = is_cgroup_v2 (),
                                               .uid = geteuid (),
                                               .gid = getegid () };
    const struct oci_config *config = spec_default (&want, c->arena);
    AUTO_STRBUF text = {};
    AUTO_FD dir = -1;

    if (!config)
        return err_oom (e);
    if (oci_emit (&oci_config_type, config, OCI_PRETTY, &text, e) < 0)
        return -e->code;
    if (text.failed)
        return err_oom (e);
    dir = fd_open (AT_FDCWD, o->bundle ?: ".", O_PATH | O_DIRECTORY, FD_HOST, e);
    return dir < 0 ? err_add (e, "bundle") : write_new (dir, &text, e);
}

const struct command cmd_spec = {
    .name = "spec",
    .summary = "Writes a config.json to begin with",
    .rule = { .tables = { spec_table }, .usage = "" },
    .options_size = sizeof (struct spec_options),
    .run = run_spec,
};
