#include "keyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lsm.h"

#define NAME_MAX_LEN 300 /* "_ses." and an id of at most 255 characters */

/* Bits of a key's permissions (kernel: include/linux/key.h). */
#define KEY_USR_SEARCH 0x00080000U
#define KEY_OTH_SEARCH 0x00000008U

static long keyctl (int op, unsigned long a, unsigned long b, unsigned long c)
{
    return syscall (SYS_keyctl, op, a, b, c, 0UL);
}

/* TYPE;UID;GID;PERM;DESCRIPTION of the session keyring into BUF. */
static int describe (char *buf, size_t size, struct err *e)
{
    long n =
        keyctl (KEYCTL_DESCRIBE, (unsigned long)KEY_SPEC_SESSION_KEYRING, (uintptr_t)buf, size);

    if (n < 0)
        return err_sys (e, "describe the session keyring");
    if ((size_t)n > size)
        return err_set (e, EMSGSIZE, "the session keyring's name is too long");
    return 0;
}

/* The field I, from 0, of a description. */
static const char *field (const char *text, int i)
{
    while (i-- > 0 && text)
        if ((text = strchr (text, ';')))
            text++;
    return text;
}

/* The kernel lets only a possessor search a session keyring. `exec` joins it by name, from a
 * process that does not have it, as its owner; from another user namespace as somebody else. */
static int let_search (const struct plan *p, long id, struct err *e)
{
    uint32_t more = p->ns[NS_USER].mode == NS_INHERIT ? KEY_USR_SEARCH : KEY_OTH_SEARCH;
    char text[NAME_MAX_LEN + 64];
    const char *perm;
    int r = describe (text, sizeof text, e);

    if (r < 0)
        return r;
    perm = field (text, 3);
    if (!perm)
        return err_set (e, EPROTO, "the session keyring has no permissions");
    if (keyctl (KEYCTL_SETPERM, (unsigned long)id, strtoul (perm, NULL, 16) | more, 0) < 0)
        return err_sys (e, "let the container search its session keyring");
    return 0;
}

/* Returns the keyring's serial number. */
static long join (const char *name, const char *label, int procfs, struct err *e)
{
    long id;

    if (label && lsm_set_keycreate (label, procfs, e) < 0)
        return -e->code;
    id = keyctl (KEYCTL_JOIN_SESSION_KEYRING, (uintptr_t)name, 0, 0);
    if (id < 0)
        id = err_sys (e, "join the session keyring '%s' (--no-new-keyring does without)", name);
    if (label && id >= 0 && lsm_set_keycreate (NULL, procfs, e) < 0)
        return -e->code;
    return id;
}

int keyring_join (const struct plan *p, int procfs, bool *ret_none, struct err *e)
{
    char name[NAME_MAX_LEN];
    long id;

    (void)snprintf (name, sizeof name, "_ses.%s", p->id);
    id = join (name, p->process.selinux, procfs, e);
    *ret_none = id == -ENOSYS;
    if (id < 0)
        return *ret_none ? 0 : (int)id;
    /* exec finds the one that create made and opened up, and which may not be ours to change. */
    return p->is_exec ? 0 : let_search (p, id, e);
}

int keyring_check (const struct plan *p, struct err *e)
{
    char text[NAME_MAX_LEN + 64];
    const char *name;
    int r = describe (text, sizeof text, e);

    if (r < 0)
        return r;
    name = field (text, 4);
    if (!name || strncmp (name, "_ses.", 5) != 0 || strcmp (name + 5, p->id) != 0)
        return err_set (e, EPERM, "the session keyring is '%s', wanted '_ses.%s'", name ?: "",
                        p->id);
    return 0;
}
