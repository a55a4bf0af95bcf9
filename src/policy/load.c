#include "policy/load.h"

#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/str.h"
#include "policy/builtin.h"
#include "policy/document.h"
#include "policy/file.h"
#include "policy/merge.h"

/* A file and those that extend it, for cycles. */
struct chain {
    const struct chain *by;
    struct policy_file file;
    unsigned int depth;
};

static int load_chain (const char *path, const struct chain *by, struct arena *a,
                       struct policy *ret, struct err *e);

/* ---- one document ---- */

static int parse (const struct policy_file *f, struct arena *a, const struct oci_policy **ret,
                  struct err *e)
{
    struct oci_parse_info info;
    const void *doc;

    if (oci_parse (&oci_policy_type, f->text, f->len, a, &doc, &info, e) < 0)
        return -e->code;
    /* In a config they are the engine's affair; here a mistyped key would protect nobody. */
    if (info.n_unknown > 0)
        return err_set (e, EINVAL, "%s: there is no such key", info.first_unknown);
    *ret = doc;
    return policy_document_check (doc, e);
}

/* "/etc/agentrt/web.json" is "web" where it says no name. */
static int name_of (const struct oci_policy *doc, const char *path, struct arena *a,
                    const char **ret, struct err *e)
{
    const char *base = strrchr (path, '/') + 1;
    size_t len = strlen (base);
    size_t ext = sizeof ".json" - 1;
    const char *name = doc->name;

    if (!name)
        name = arena_strndup (
            a, base, len > ext && strcmp (base + len - ext, ".json") == 0 ? len - ext : len);
    if (!name)
        return err_oom (e);
    if (!str_is_id (name) || policy_builtin (name))
        return err_set (e, EINVAL,
                        "/name: is required, because the file's own ('%.64s') is none for a policy",
                        name);
    *ret = name;
    return 0;
}

/* ---- what it extends ---- */

static int check_chain (const struct chain *c, struct err *e)
{
    for (const struct chain *p = c->by; p; p = p->by)
        if (p->file.dev == c->file.dev && p->file.ino == c->file.ino)
            return err_set (e, ELOOP, "it extends itself");
    if (c->depth > POLICY_MAX_DEPTH)
        return err_set (e, ELOOP, "more than %d policies extend each other", POLICY_MAX_DEPTH);
    return 0;
}

static int no_such_policy (const char *name, struct err *e)
{
    return err_set (e, ENOENT,
                    "no policy is called '%.64s': there are strict, oci and system; a file needs a "
                    "'/' in its path",
                    name);
}

/* WANTED below the folder of the file that says it. */
static int load_base_file (const char *wanted, const struct chain *c, struct arena *a,
                           struct policy *ret, struct err *e)
{
    const char *own = c->file.path;
    int dir = (int)(strrchr (own, '/') - own);
    const char *path = wanted[0] == '/' ? wanted : arena_printf (a, "%.*s/%s", dir, own, wanted);

    return path ? load_chain (path, c, a, ret, e) : err_oom (e);
}

static int load_base (const char *wanted, const struct chain *c, struct arena *a,
                      struct policy *ret, struct err *e)
{
    int r;

    if (strchr (wanted, '/'))
        r = load_base_file (wanted, c, a, ret, e);
    else
        r = policy_builtin (wanted) ? policy_from_builtin (wanted, a, ret, e)
                                    : no_such_policy (wanted, e);
    return r < 0 ? err_add (e, "/extend") : 0;
}

static int build (const struct chain *c, struct arena *a, struct policy *ret, struct err *e)
{
    const struct oci_policy *own;
    struct policy base = { 0 };
    struct oci_policy named;

    if (parse (&c->file, a, &own, e) < 0)
        return -e->code;
    named = *own;
    if (name_of (own, c->file.path, a, &named.name, e) < 0 ||
        load_base (own->extend ?: "strict", c, a, &base, e) < 0)
        return -e->code;
    *ret = (struct policy){ .name = named.name, .file = c->file.path };
    return policy_merge (base.doc, &named, a, &ret->doc, e);
}

/* C's file was read. */
static int load_opened (const struct chain *c, struct arena *a, struct policy *ret, struct err *e)
{
    int r = check_chain (c, e);

    if (r == 0)
        r = build (c, a, ret, e);
    return r < 0 ? err_add (e, "policy '%.200s'", c->file.path) : 0;
}

static int load_chain (const char *path, const struct chain *by, struct arena *a,
                       struct policy *ret, struct err *e)
{
    struct chain c = { .by = by, .depth = by->depth + 1 };
    int r = policy_file_read (path, a, &c.file, e);

    return r < 0 ? r : load_opened (&c, a, ret, e);
}

/* ---- which one ---- */

int policy_digest (struct policy *ret, struct arena *a, struct err *e)
{
    AUTO_STRBUF text = { 0 };
    char buf[DIGEST_MAX];

    if (oci_emit (&oci_policy_type, ret->doc, OCI_COMPACT, &text, e) < 0)
        return err_add (e, "policy '%s'", ret->name);
    ret->digest = arena_strdup (a, digest_sha256 (text.s, text.len, buf));
    return ret->digest ? 0 : err_oom (e);
}

static int finish (int r, const struct policy *p, struct arena *a, struct policy *ret,
                   struct err *e)
{
    struct policy done = *p;

    if (r == 0)
        r = policy_digest (&done, a, e);
    if (r == 0)
        *ret = done;
    return r;
}

static int load_builtin (const char *name, struct arena *a, struct policy *ret, struct err *e)
{
    struct policy p = { 0 };
    int r = policy_builtin (name) ? policy_from_builtin (name, a, &p, e) : no_such_policy (name, e);

    return finish (r, &p, a, ret, e);
}

/* INSTEAD (may be NULL) is for a FILE that is not there. One that it extends is no such case. */
static int load_file (const char *file, const char *instead, struct arena *a, struct policy *ret,
                      struct err *e)
{
    struct chain c = { .depth = 1 };
    struct policy p = { 0 };
    int r = policy_file_read (file, a, &c.file, e);

    if (r == -ENOENT && instead)
        return load_builtin (instead, a, ret, e);
    if (r == 0)
        r = load_opened (&c, a, &p, e);
    return finish (r, &p, a, ret, e);
}

int policy_load_file (const char *file, struct arena *a, struct policy *ret, struct err *e)
{
    return load_file (file, NULL, a, ret, e);
}

int policy_load (const char *wanted, struct arena *a, struct policy *ret, struct err *e)
{
    if (!wanted)
        return load_file (POLICY_FILE, POLICY_DEFAULT, a, ret, e);
    if (strchr (wanted, '/'))
        return load_file (wanted, NULL, a, ret, e);
    return load_builtin (wanted, a, ret, e) < 0 ? err_add (e, "--policy") : 0;
}
