/* Capabilities and ids of a process: set for real, each check also seen to fail. Needs root. */
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "harden/caps.h"
#include "harden/ids.h"
#include "harden/nnp.h"
#include "act.h"

#define BIT(cap) (UINT64_C (1) << (cap))
#define DOCKER                                                                                     \
    (BIT (CAP_CHOWN) | BIT (CAP_DAC_OVERRIDE) | BIT (CAP_FOWNER) | BIT (CAP_SETGID) |              \
     BIT (CAP_SETUID) | BIT (CAP_NET_BIND_SERVICE) | BIT (CAP_KILL))

static struct plan_process process (uid_t uid, uint64_t caps, uint64_t ambient)
{
    return (struct plan_process){ .uid = uid,
                                  .gid = uid,
                                  .umask = 027,
                                  .caps = { [CAPS_BOUNDING] = caps,
                                            [CAPS_PERMITTED] = caps,
                                            [CAPS_EFFECTIVE] = caps,
                                            [CAPS_INHERITABLE] = ambient,
                                            [CAPS_AMBIENT] = ambient } };
}

/* As the child of a start does it. */
static int become (const void *arg, struct err *e)
{
    const struct plan_process *p = arg;
    AUTO_FD procfs = fd_procfs (e);

    TRY (caps_drop_bounding (p, e));
    TRY (caps_drop_bounding_check (p, procfs, e));
    TRY (caps_keep (e));
    TRY (ids_set (p, false, e));
    TRY (ids_check (p, false, e));
    TRY (caps_set (p, e));
    return caps_check (p, procfs, e);
}

/* A caller that has everything set which an empty plan must clear (CVE-2022-29162). */
static int become_from_full (const void *arg, struct err *e)
{
    struct plan_process full;
    uint64_t all = 0;
    gid_t groups[] = { 10, 20 };

    TRY (caps_permitted (&all, e));
    full = process (0, all, all);
    TRY (caps_set (&full, e));
    CHECK (setgroups (2, groups) == 0);
    return become (arg, e);
}

static int check_only (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    return caps_check (arg, procfs, e);
}

static int cannot_come_back (const void *arg, struct err *e)
{
    struct plan_process more = process (1000, BIT (CAP_CHOWN), 0);

    TRY (become (arg, e));
    CHECK (setresuid (0, 0, 0) < 0);
    return caps_set (&more, e);
}

static void test_sets (void)
{
    struct plan_process p = process (0, DOCKER, 0);

    expect (become, &p, "root with some capabilities");
    p = process (1000, DOCKER, 0);
    expect (become, &p, "a user with some capabilities");
    p = process (1000, DOCKER, BIT (CAP_KILL));
    expect (become, &p, "a user with an ambient one");
    p = process (1000, 0, 0);
    expect (become_from_full, &p, "nothing is left: permitted, inheritable, ambient, groups");
    expect_error (cannot_come_back, &p,
                  "/process/capabilities/permitted: this process has no CAP_CHOWN",
                  "and nothing comes back");
    expect_error (check_only, &p, "/process/capabilities/bounding: CAP_CHOWN is still there",
                  "more than planned is noticed");
}

/* On this machine root may lack some; what it lacks cannot be given, and that is an error. */
static int more_than_permitted (const void *arg, struct err *e)
{
    struct plan_process less = process (0, DOCKER, 0);
    struct plan_process more = process (0, DOCKER | BIT (CAP_SYS_ADMIN), 0);
    uint64_t set = 0;

    (void)arg;
    TRY (become (&less, e));
    TRY (caps_permitted (&set, e));
    CHECK (set == DOCKER);
    return caps_set (&more, e);
}

static int bounding_missing (const void *arg, struct err *e)
{
    struct plan_process less = process (0, DOCKER, 0);
    struct plan_process more = process (0, DOCKER | BIT (CAP_SYS_ADMIN), 0);
    AUTO_FD procfs = fd_procfs (e);

    (void)arg;
    TRY (caps_drop_bounding (&less, e));
    return caps_drop_bounding_check (&more, procfs, e);
}

static int ambient_without_inheritable (const void *arg, struct err *e)
{
    struct plan_process p = process (1000, DOCKER, 0);

    (void)arg;
    p.caps[CAPS_AMBIENT] = BIT (CAP_KILL);
    return become (&p, e);
}

static int drop_without_right (const void *arg, struct err *e)
{
    struct plan_process p = process (1000, DOCKER, 0);

    (void)arg;
    TRY (become (&p, e));
    p.caps[CAPS_BOUNDING] = 0;
    return caps_drop_bounding (&p, e);
}

static void test_refused (void)
{
    expect_error (more_than_permitted, NULL, "this process has no CAP_SYS_ADMIN to give",
                  "more than permitted");
    expect_error (bounding_missing, NULL, "bounding: CAP_SYS_ADMIN is not granted",
                  "a bounding set without it");
    expect_error (ambient_without_inheritable, NULL,
                  "can't raise ambient capability CAP_KILL: not allowed (EPERM)",
                  "ambient without inheritable");
    expect_error (drop_without_right, NULL,
                  "drop CAP_CHOWN from the bounding set: not allowed (EPERM)", "no right to drop");
}

/* ---- ids ---- */

static const gid_t some[] = { 5, 5, 7, 20 };

static int groups_and_back (const void *arg, struct err *e)
{
    TRY (ids_set (arg, false, e));
    return ids_check (arg, false, e);
}

static int groups_denied (const void *arg, struct err *e)
{
    return ids_set (arg, true, e);
}

static int other_groups (const void *arg, struct err *e)
{
    gid_t other[] = { 5, 20, 7, 8 };

    TRY (ids_set (arg, false, e));
    CHECK (ids_check (arg, true, e) == 0); /* asked for, so looked at although denied */
    (void)arg;
    CHECK (setgroups (4, other) < 0);
    return 0;
}

static int other_ids (const void *arg, struct err *e)
{
    (void)arg;
    CHECK (setresgid (1000, 1000, 1000) == 0);
    return ids_check (arg, false, e);
}

static int wrong_groups (const void *arg, struct err *e)
{
    const struct plan_process *p = arg;
    gid_t other[] = { 5, 20, 7, 8 };

    CHECK (setgroups (4, other) == 0 && setresgid (p->gid, p->gid, p->gid) == 0 &&
           setresuid (p->uid, p->uid, p->uid) == 0);
    return ids_check (p, false, e);
}

static int wrong_umask (const void *arg, struct err *e)
{
    TRY (ids_set (arg, false, e));
    (void)umask (077);
    return ids_check (arg, false, e);
}

static void test_ids (void)
{
    struct plan_process p = process (1000, 0, 0);

    p.gids = some;
    p.n_gids = ARRAY_LEN (some);
    expect (groups_and_back, &p, "groups, one of them twice");
    expect (other_groups, &p, "which the process cannot change any more");
    expect_error (groups_denied, &p, "the user namespace forbids setgroups", "groups where denied");
    expect_error (other_ids, &p, "/process/user: found ids 0:1000, wanted 1000:1000", "other ids");
    expect_error (wrong_groups, &p, "found other groups", "other groups");
    expect_error (wrong_umask, &p, "/process/user/umask", "another umask");
    p.n_gids = 0;
    expect (groups_denied, &p, "no groups where denied");
    expect_error (wrong_groups, &p, "found other groups", "groups where none are wanted");
}

/* ---- no_new_privs ---- */

static int nnp (const void *arg, struct err *e)
{
    (void)arg;
    CHECK (nnp_check (e) == -EPERM);
    TRY (nnp_set (e));
    return nnp_check (e);
}

int main (void)
{
    expect (nnp, NULL, "no_new_privs");
    if (geteuid () != 0)
        return tap_done ();
    test_sets ();
    test_refused ();
    test_ids ();
    return tap_done ();
}
