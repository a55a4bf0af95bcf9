#include "exec/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "base/userns.h"
#include "spec/names.h"

#define SAVED_STATE_VERSION 1
#define MAX_LISTEN_FDS      1024

int facts_path (int dir, struct arena *a, const char **ret, struct err *e)
{
    char link[FD_PATH_MAX];
    char path[PATH_MAX];
    ssize_t n = readlink (fd_path (link, dir), path, sizeof path);

    if (n < 0 || (size_t)n >= sizeof path)
        return err_sys (e, "look up the path of the bundle");
    *ret = arena_strndup (a, path, (size_t)n);
    return *ret ? 0 : err_oom (e);
}

/* systemd's socket activation: descriptors from 3 on, when they are meant for this process. */
static int look_at_listen_fds (unsigned int *ret, struct err *e)
{
    const char *fds = getenv ("LISTEN_FDS");
    uint64_t n = 0;

    *ret = 0;
    if (!fds || !fds[0])
        return 0;
    if (num_u64 (fds, "LISTEN_FDS in the environment", 0, MAX_LISTEN_FDS, &n, e) < 0)
        return -e->code;
    *ret = (unsigned int)n;
    return 0;
}

int facts_look (unsigned int preserve_fds, struct arena *a, struct plan_host *ret, struct err *e)
{
    struct rlimit *limits = arena_calloc (a, RLIM_NLIMITS, sizeof *limits);
    int result = limits ? look_at_listen_fds (&ret->listen_fds, e) : err_oom (e);

    if (result == 0)
        result = caps_permitted (&ret->permitted, e);
    for (int i = 0; result == 0 && i < RLIM_NLIMITS; i++)
        if (getrlimit (i, &limits[i]) < 0)
            result = err_sys (e, "read resource limit %d", i);
    if (result < 0)
        return result;
    ret->rlimits = limits;
    ret->uid = geteuid ();
    ret->gid = getegid ();
    ret->is_rootless = ret->uid != 0 || !userns_is_initial ();
    ret->has_user_bus =
        ret->is_rootless && (getenv ("XDG_RUNTIME_DIR") || getenv ("DBUS_SESSION_BUS_ADDRESS"));
    ret->preserve_fds = preserve_fds + ret->listen_fds;
    return fds_check_preserved (ret->preserve_fds, e);
}

/* ---- notes ---- */
static void note (const struct container_env *env, int level, const char *text)
{
    if (env->note && text)
        env->note (level, text);
}

static void note_unknown_caps (const struct container_env *env, const struct oci_capabilities *c,
                               struct strbuf *text)
{
    strbuf_adds (text, "unknown capabilities are ignored:");
    for (size_t i = 0; i < c->n_bounding; i++)
        if (names_cap (c->bounding[i]) < 0)
            strbuf_addf (text, " %s", c->bounding[i]);
    if (strchr (text->s ?: "", ':')[1])
        note (env, LOG_WARN, text->s);
}

static void add_caps (struct strbuf *text, uint64_t set)
{
    for (unsigned int cap = 0; cap < 64; cap++)
        if (set >> cap & 1)
            strbuf_addf (text, " %s", names_cap_text (cap) ?: "(unnamed)");
}

/* In runc's words, one line for each. */
static void note_ambient (const struct container_env *env, uint64_t set)
{
    for (; set; set &= set - 1) {
        AUTO_STRBUF text = { 0 };

        strbuf_adds (&text, "can't raise ambient capability");
        add_caps (&text, set & -set);
        strbuf_adds (&text, ": it is not both permitted and inheritable");
        note (env, LOG_WARN, text.s);
    }
}

void facts_note (const struct run *r)
{
    const struct container_env *env = r->env;
    const struct oci_process *process = r->process ?: r->config->process;
    const struct plan *p = &r->plan;
    AUTO_STRBUF unknown = { 0 };
    AUTO_STRBUF withheld = { 0 };

    if (process->capabilities)
        note_unknown_caps (env, process->capabilities, &unknown);
    if (p->process.caps_withheld) {
        strbuf_adds (&withheld, "the caller does not have, so the container does not get:");
        add_caps (&withheld, p->process.caps_withheld);
        note (env, LOG_WARN, withheld.s);
    }
    note_ambient (env, p->process.ambient_withheld);
}

/* ---- state.json ---- */
int facts_saved_cgroup (struct run *r, struct oci_saved_state *ret, struct err *e)
{
    struct oci_saved_cgroup *cg = arena_alloc (r->arena, sizeof *cg);
    int result = cg ? cgroup_save (&r->cgroup, r->arena, cg, e) : err_oom (e);

    if (result == 0)
        ret->cgroup = cg;
    return result;
}

int facts_saved_state (struct run *r, struct oci_saved_state *ret, struct err *e)
{
    const struct oci_config *c = r->policy.config;
    char now[STR_TIMESTAMP_MAX];
    *ret = (struct oci_saved_state){ .version = SAVED_STATE_VERSION,
                                     .oci_version = c->oci_version,
                                     .id = r->create->id,
                                     .bundle = r->plan.bundle,
                                     .rootfs = r->plan.rootfs,
                                     .owner = geteuid (),
                                     .creating = true,
                                     .policy = r->given_policy.name,
                                     .policy_file = r->given_policy.file,
                                     .policy_digest = r->given_policy.digest,
                                     .has_own_network = r->plan.own_network,
                                     .own_network = r->plan.own_network };
    ret->created = arena_strdup (r->arena, str_timestamp (now));
    if (!ret->created)
        return err_oom (e);
    if (facts_annotations (r, ret, e) < 0)
        return -e->code;
    return r->plan.cgroup.disabled ? 0 : facts_saved_cgroup (r, ret, e);
}
