/*
 * What the guard looked at is what is mounted: somebody who can rename beside the two gets either a
 * refusal or the harmless folder, never the other one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "guard_box.h"
#include "mnt/mnt.h"
#include "tap.h"

#define SOURCE  "/race/it"
#define OTHER   "/race/other"
#define ROUNDS  3000
#define SECONDS 30 /* for a race that has to be won once */

static const char *options[] = { "rbind" };
static struct oci_mount mount_it = {
    .destination = "/x", .type = "bind", .source = SOURCE, .options = options, .n_options = 1
};
static struct oci_root root = { .path = "rootfs" };
static const struct oci_config config = { .mounts = &mount_it, .n_mounts = 1, .root = &root };
static const struct guard_request request = { .config = &config, .bundle = "/bundle" };

enum outcome { REFUSED, EXCHANGED, MOUNTED_RIGHT, MOUNTED_WRONG, BROKEN };

static ino_t inode_of (const char *path)
{
    struct stat st;

    return stat (path, &st) == 0 ? st.st_ino : 0;
}

/* The clone that mnt/ makes, held against the inode that it must be. */
static enum outcome prepare (const struct guard_findings *guard, ino_t right, struct arena *a)
{
    const struct mntopt_context where = { .bundle = "/bundle" };
    struct plan_mount pm;
    struct plan plan = { .rootfs = "/bundle/rootfs", .mounts = &pm, .n_mounts = 1, .guard = guard };
    struct mnt_sources sources = MNT_SOURCES_NONE;
    struct err e = { 0 };
    struct stat st;
    enum outcome result = BROKEN;

    plan.ns[NS_MOUNT].mode = NS_MAKE;
    if (mntopt_parse (&mount_it, &where, a, &pm, &e) < 0)
        return BROKEN;
    if (mnt_prepare (&plan, a, &sources, &e) == 0 && fstat (sources.mounts[0], &st) == 0)
        result = st.st_ino == right ? MOUNTED_RIGHT : MOUNTED_WRONG;
    else if (strstr (e.msg, "exchanged while the mount guard looked"))
        result = EXCHANGED;
    else
        (void)printf ("# %s\n", e.msg);
    mnt_sources_close (&sources);
    return result;
}

static enum outcome look_and_prepare (ino_t right, bool with_check, void (*between) (void))
{
    AUTO_ARENA a = { 0 };
    struct guard_findings f;
    struct err e = { 0 };

    if (guard_look (&request, &a, &f, &e) < 0) {
        (void)printf ("# %s\n", e.msg);
        return BROKEN;
    }
    if (f.n > 0)
        return REFUSED;
    if (between)
        between ();
    return prepare (with_check ? &f : NULL, right, &a);
}

static void exchange (void)
{
    (void)renameat2 (AT_FDCWD, SOURCE, AT_FDCWD, OTHER, RENAME_EXCHANGE);
}

static void appear (void)
{
    (void)rename (OTHER, SOURCE);
}

/* ---- one exchange, at the worst moment ---- */
static void check_once (const char *other, const char *name)
{
    ino_t right;

    box_folder (SOURCE);
    right = inode_of (SOURCE);
    box_link (other, OTHER);
    (void)ok (look_and_prepare (right, true, NULL) == MOUNTED_RIGHT, "%s: a quiet start", name);
    (void)ok (look_and_prepare (right, true, exchange) == EXCHANGED, "%s: exchanged", name);
    (void)ok (look_and_prepare (right, true, NULL) == REFUSED, "%s: looked at later", name);
    exchange ();
    (void)ok (look_and_prepare (right, false, exchange) == MOUNTED_WRONG,
              "%s: without the check it would be mounted", name);
    box_remove ("/race");
}

static void check_appears (void)
{
    box_link ("/etc", OTHER);
    (void)ok (look_and_prepare (0, true, appear) == EXCHANGED, "a source that appears later");
    box_remove ("/race");
}

/* ---- all the time ---- */
static pid_t start_swapper (void)
{
    pid_t pid = fork ();

    while (pid == 0)
        exchange ();
    return pid;
}

static void stop (pid_t pid)
{
    (void)kill (pid, SIGKILL);
    (void)waitpid (pid, NULL, 0);
}

static void check_race (void)
{
    unsigned int seen[BROKEN + 1] = { 0 };
    time_t end = time (NULL) + SECONDS;
    bool lost = false;
    ino_t right;
    pid_t pid;

    box_folder (SOURCE);
    right = inode_of (SOURCE);
    box_link ("/etc", OTHER);
    pid = start_swapper ();
    for (int i = 0; i < ROUNDS && time (NULL) < end; i++)
        seen[look_and_prepare (right, true, NULL)]++;
    while (!lost && time (NULL) < end)
        lost = look_and_prepare (right, false, NULL) == MOUNTED_WRONG;
    stop (pid);
    (void)printf ("# refused %u, exchanged %u, mounted %u\n", seen[REFUSED], seen[EXCHANGED],
                  seen[MOUNTED_RIGHT]);
    (void)ok (seen[MOUNTED_WRONG] == 0 && seen[BROKEN] == 0, "the swapper never wins");
    (void)ok (seen[REFUSED] > 0 && seen[MOUNTED_RIGHT] > 0, "it was there");
    (void)ok (lost, "without the check it wins");
}

int main (void)
{
    if (!box_start ()) {
        (void)printf ("1..0 # SKIP needs root and a mount namespace\n");
        return 0;
    }
    box_file ("/etc/thing");
    check_once ("/etc", "a link");
    check_once ("/proc/self/root", "a link to the root");
    check_appears ();
    check_race ();
    return tap_done ();
}
