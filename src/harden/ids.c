#include "ids.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_groups (const struct plan_process *p, bool denied, struct err *e)
{
    if (p->keep_groups || (denied && p->n_gids == 0))
        return 0;
    if (denied)
        return err_set (e, EPERM,
                        "/process/user/additionalGids: the user namespace forbids setgroups");
    if (setgroups (p->n_gids, p->gids) < 0)
        return err_sys (e, "/process/user/additionalGids: set %zu groups", p->n_gids);
    return 0;
}

int ids_set (const struct plan_process *p, bool setgroups_denied, struct err *e)
{
    int r = set_groups (p, setgroups_denied, e);

    if (r < 0)
        return r;
    if (setresgid (p->gid, p->gid, p->gid) < 0)
        return err_sys (e, "/process/user/gid: become group %u", p->gid);
    if (setresuid (p->uid, p->uid, p->uid) < 0)
        return err_sys (e, "/process/user/uid: become user %u", p->uid);
    (void)umask (p->umask); /* cannot fail */
    return 0;
}

static int compare (const void *a, const void *b)
{
    gid_t x = *(const gid_t *)a;
    gid_t y = *(const gid_t *)b;

    return (x > y) - (x < y);
}

/* The plan has them sorted. The kernel sorts them by their ids on the host, which in a user
 * namespace is another order. */
static bool same_groups (const struct plan_process *p)
{
    gid_t have[NGROUPS_MAX];
    int n = getgroups (NGROUPS_MAX, have);

    if (n < 0 || (size_t)n != p->n_gids)
        return false;
    qsort (have, p->n_gids, sizeof have[0], compare);
    return memcmp (have, p->gids, p->n_gids * sizeof have[0]) == 0;
}

static bool groups_are_right (const struct plan_process *p, bool denied)
{
    if (p->keep_groups || (denied && p->n_gids == 0))
        return true;
    return p->n_gids == 0 ? getgroups (0, NULL) == 0 : same_groups (p);
}

int ids_check (const struct plan_process *p, bool setgroups_denied, struct err *e)
{
    uid_t uid[3];
    gid_t gid[3];

    if (getresuid (&uid[0], &uid[1], &uid[2]) < 0 || getresgid (&gid[0], &gid[1], &gid[2]) < 0)
        return err_sys (e, "read the ids");
    for (int i = 0; i < 3; i++)
        if (uid[i] != p->uid || gid[i] != p->gid)
            return err_set (e, EPERM, "/process/user: found ids %u:%u, wanted %u:%u", uid[i],
                            gid[i], p->uid, p->gid);
    if (!groups_are_right (p, setgroups_denied))
        return err_set (e, EPERM, "/process/user/additionalGids: found other groups than wanted");
    if (umask (p->umask) != p->umask)
        return err_set (e, EPERM, "/process/user/umask: found another one than %04o", p->umask);
    return 0;
}
