#include "sysctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

void sysctl_to_path (char *key)
{
    const char *first = strpbrk (key, "./");

    if (!first || *first == '/')
        return;
    for (char *c = key; *c; c++)
        *c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
}

/* Parameters that the kernel keeps per namespace (proc_sys(5), namespaces(7)). A name that ends
 * with '/' stands for all below it. */
struct family {
    const char *path;
    int ns;
    const char *instead; /* refused all the same: the property that says it */
};

static const struct family families[] = {
    { "net/", OCI_NS_NETWORK, NULL },
    { "fs/mqueue/", OCI_NS_IPC, NULL },
    { "kernel/msgmax", OCI_NS_IPC, NULL },
    { "kernel/msgmnb", OCI_NS_IPC, NULL },
    { "kernel/msgmni", OCI_NS_IPC, NULL },
    { "kernel/sem", OCI_NS_IPC, NULL },
    { "kernel/shmall", OCI_NS_IPC, NULL },
    { "kernel/shmmax", OCI_NS_IPC, NULL },
    { "kernel/shmmni", OCI_NS_IPC, NULL },
    { "kernel/shm_rmid_forced", OCI_NS_IPC, NULL },
    { "kernel/hostname", OCI_NS_UTS, "hostname" },
    { "kernel/domainname", OCI_NS_UTS, "domainname" },
    { "user/", OCI_NS_USER, NULL },
};

static const struct family *find_family (const char *path)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        size_t n = strlen (families[i].path);
        bool all = families[i].path[n - 1] == '/';

        if (strncmp (families[i].path, path, n) == 0 && (all ? path[n] != '\0' : path[n] == '\0'))
            return &families[i];
    }
    return NULL;
}

/* No empty, "." or ".." component, no control character. */
static bool is_clean (const char *path)
{
    size_t n;

    for (;; path += n + 1) {
        n = strcspn (path, "/");
        if (n == 0 || (path[0] == '.' && (n == 1 || (n == 2 && path[1] == '.'))))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)path[i] <= ' ' || path[i] == 0x7f)
                return false;
        if (!path[n])
            return true;
    }
}

int sysctl_namespace (const char *key)
{
    const struct family *f = NULL;
    char path[256];

    if (snprintf (path, sizeof path, "%s", key) < (int)sizeof path) {
        sysctl_to_path (path);
        f = is_clean (path) ? find_family (path) : NULL;
    }
    return f ? f->ns : -1;
}

static int check_one (const struct oci_linux *l, const struct oci_kv *kv, struct err *e)
{
    const struct family *f;
    char path[256];

    if (snprintf (path, sizeof path, "%s", kv->key) >= (int)sizeof path)
        return err_set (e, EINVAL, "/linux/sysctl/%.64s...: the name is too long", kv->key);
    sysctl_to_path (path);
    if (!is_clean (path))
        return err_set (e, EINVAL, "/linux/sysctl/%s: not a parameter's name", kv->key);
    f = find_family (path);
    if (!f)
        return err_set (
            e, EINVAL, "/linux/sysctl/%s: belongs to no namespace, would change the host", kv->key);
    if (f->instead)
        return err_set (e, EINVAL, "/linux/sysctl/%s: use /%s instead", kv->key, f->instead);
    if (!spec_has_ns (l, f->ns))
        return err_set (e, EINVAL, "/linux/sysctl/%s: needs its own %s namespace", kv->key,
                        oci_enum_name (&oci_namespace_enum, f->ns));
    if (strchr (kv->value, '\n'))
        return err_set (e, EINVAL, "/linux/sysctl/%s: the value has more than one line", kv->key);
    return 0;
}

int sysctl_check (const struct oci_linux *l, struct err *e)
{
    for (size_t i = 0; i < l->n_sysctl; i++)
        if (check_one (l, &l->sysctl[i], e) < 0)
            return -e->code;
    return 0;
}
