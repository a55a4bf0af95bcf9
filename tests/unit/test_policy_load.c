/*
 * Policy files: where they may lie, who may own them, what may be in them; and what is kept.
 *
 * Works on a tmpfs of its own in a mount namespace of its own, so it needs root. Each refusal is
 * provoked by one shell command and gone after another one: the file is then taken.
 */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "policy/builtin.h"
#include "policy/kept.h"
#include "policy/load.h"
#include "tap.h"

#define BOX   "/mnt"
#define PFILE BOX "/a/b/p.json"

static struct arena arena;

static void sh (const char *command)
{
    if (system (command) != 0) {
        printf ("Bail out! %s\n", command);
        exit (EXIT_FAILURE);
    }
}

/* A fresh BOX with PFILE in it, all of it UID's. */
static void fresh (unsigned int uid)
{
    char own[64];

    sh ("rm -rf " BOX "/* && mkdir -p " BOX "/a/b && cd " BOX "/a/b && "
        "echo '{\"limits\": {\"pids\": 7}}' >p.json && chmod -R go-w " BOX "/a");
    (void)snprintf (own, sizeof own, "chown -R %u " BOX "/a", uid);
    sh (own);
}

/* "" when WANTED is loaded by a process of UID, else the error. */
static const char *outcome (const char *wanted, unsigned int uid)
{
    struct err e = { 0 };
    int pipes[2];
    pid_t pid;
    ssize_t n;

    if (pipe (pipes) < 0 || (pid = fork ()) < 0)
        return "no child";
    if (pid == 0) {
        struct policy p = { 0 };

        if (setresuid (uid, uid, uid) == 0)
            (void)policy_load_file (wanted, &arena, &p, &e);
        _exit (write (pipes[1], &e, sizeof e) == sizeof e ? 0 : 1);
    }
    (void)close (pipes[1]);
    n = read (pipes[0], &e, sizeof e);
    (void)close (pipes[0]);
    (void)waitpid (pid, NULL, 0);
    return n == sizeof e ? arena_strdup (&arena, e.msg) : "no answer";
}

struct row {
    const char *twist, *want, *fix;
    unsigned int uid; /* who loads it, and whose it is */
};

static void try_rows (const struct row *rows, size_t n)
{
    for (const struct row *r = rows; r < rows + n; r++) {
        const char *got;

        fresh (r->uid);
        sh (r->twist);
        got = outcome (PFILE, r->uid);
        if (!ok (*r->want ? strstr (got, r->want) != NULL : *got == '\0', "%s: refused", r->twist))
            printf ("# got  %s\n# want %s\n", got, r->want);
        sh (r->fix);
        got = outcome (PFILE, r->uid);
        if (!ok (*got == '\0', "%s: taken again", r->fix))
            printf ("# %s\n", got);
    }
}
#define TRY_ROWS(rows) try_rows (rows, ARRAY_LEN (rows))

/* ---- owners and modes ---- */
static void test_trust (void)
{
    static const struct row rows[] = {
        { "chown 7 /mnt/a/b/p.json", "file '/mnt/a/b/p.json' belongs to uid 7",
          "chown 0 /mnt/a/b/p.json", 0 },
        { "chown 7 /mnt/a/b", "folder '/mnt/a/b' belongs to uid 7", "chown 0 /mnt/a/b", 0 },
        { "chown 7 /mnt/a", "folder '/mnt/a' belongs to uid 7", "chown 0 /mnt/a", 0 },
        { "chown 7 /mnt", "folder '/mnt' belongs to uid 7", "chown 0 /mnt", 0 },
        { "chmod g+w /mnt/a/b/p.json", "can be written by its group (mode 0664)",
          "chmod go-w '/mnt/a/b/p.json'", 0 },
        { "chmod o+w /mnt/a/b/p.json", "can be written by others (mode 0646)",
          "chmod go-w '/mnt/a/b/p.json'", 0 },
        { "chmod g+w /mnt/a/b", "folder '/mnt/a/b' can be written by its group",
          "chmod go-w /mnt/a/b", 0 },
        { "chmod g+w /mnt/a", "folder '/mnt/a' can be written by its group", "chmod go-w /mnt/a",
          0 },
        { "chmod o+w /mnt/a", "chmod go-w '/mnt/a'", "chmod go-w /mnt/a", 0 },
        { "chmod 1777 /mnt/a", "folder '/mnt/a' others can make files (mode 1777)",
          "chmod 0755 /mnt/a", 0 },
        { "chmod 2775 /mnt/a", "(mode 2775)", "chmod 0755 /mnt/a", 0 },
        { "chmod 1777 /mnt", "keep the policy elsewhere", "chmod 0755 /mnt", 0 },
    };
    static const struct row rootless[] = {
        { "chown 8 /mnt/a/b/p.json", "belongs to uid 8", "chown 7 /mnt/a/b/p.json", 7 },
        { "chown 8 /mnt/a", "folder '/mnt/a' belongs to uid 8", "chown 0 /mnt/a", 7 },
        { "chmod g+w /mnt/a/b", "chmod go-w '/mnt/a/b'", "chown 0 /mnt/a/b; chmod go-w /mnt/a/b",
          7 },
        { "chmod 600 /mnt/a/b/p.json; chown 0 /mnt/a/b/p.json", "access refused",
          "chmod 644 /mnt/a/b/p.json", 7 },
    };

    TRY_ROWS (rows);
    TRY_ROWS (rootless);
}

/* ---- links, and what is no file ---- */
static void test_kinds (void)
{
    static const struct row rows[] = {
        { "mkdir -m 777 /mnt/x; mv /mnt/a/b /mnt/x; ln -s /mnt/x/b /mnt/a/b",
          "folder '/mnt/x' can be written by others", "chmod 755 /mnt/x", 0 },
        { "mkdir -m 777 /mnt/x; mv /mnt/a/b /mnt/x; ln -s ../x/b /mnt/a/b",
          "folder '/mnt/x' can be written by others", "chmod 755 /mnt/x", 0 },
        { "mkdir -m 777 /mnt/x; mv /mnt/a/b/p.json /mnt/x; ln -s ../../x/p.json /mnt/a/b",
          "folder '/mnt/x' can be written by others", "chmod 755 /mnt/x", 0 },
        { "mkdir -m 777 /mnt/x; mv /mnt/a/b /mnt/a/c; ln -s ../a/c /mnt/x/l; ln -s ../x/l /mnt/a/b",
          "folder '/mnt/x' can be written by others", "chmod 755 /mnt/x", 0 },
        { "mkdir -m 777 /mnt/x; mv /mnt/a/b/p.json /mnt/q; ln -s ../../x/../q /mnt/a/b/p.json",
          "folder '/mnt/x' can be written by others", "chmod 755 /mnt/x", 0 },
        { "mv /mnt/a/b/p.json /mnt/q; ln -s nothing /mnt/a/b/p.json",
          "a link on the way leads nowhere", "ln -sf ../../q /mnt/a/b/p.json", 0 },
        { "mv /mnt/a/b/p.json /mnt/q; ln -s p.json /mnt/a/b/p.json", "too many links",
          "ln -sf ../../q /mnt/a/b/p.json", 0 },
        { "rm /mnt/a/b/p.json; mkfifo /mnt/a/b/p.json", "not a regular file",
          "rm /mnt/a/b/p.json; echo '{}' >/mnt/a/b/p.json", 0 },
        { "rm /mnt/a/b/p.json; mknod /mnt/a/b/p.json c 1 5", "not a regular file",
          "rm /mnt/a/b/p.json; echo '{}' >/mnt/a/b/p.json", 0 },
        { "rm /mnt/a/b/p.json; mkdir /mnt/a/b/p.json", "it is a folder",
          "rmdir /mnt/a/b/p.json; echo '{}' >/mnt/a/b/p.json", 0 },
        { "rm -r /mnt/a/b; touch /mnt/a/b", "'b' on the way is no folder",
          "rm /mnt/a/b; mkdir /mnt/a/b; echo '{}' >/mnt/a/b/p.json", 0 },
        { "rm /mnt/a/b/p.json", "it is not there", "echo '{}' >/mnt/a/b/p.json", 0 },
        { "head -c 1048577 /dev/zero | tr '\\0' ' ' >/mnt/a/b/p.json", "larger than 1048576 bytes",
          "(echo '{}'; head -c 1048570 /dev/zero | tr '\\0' ' ') >/mnt/a/b/p.json", 0 },
    };

    TRY_ROWS (rows);
}

/* ---- what it extends ---- */
static void test_extend (void)
{
    static const struct row rows[] = {
        { "echo '{\"extend\": \"none\"}' >/mnt/a/b/p.json", "/extend: no policy is called 'none'",
          "echo '{\"extend\": \"oci\"}' >/mnt/a/b/p.json", 0 },
        { "echo '{\"extend\": \"./p.json\"}' >/mnt/a/b/p.json", "it extends itself",
          "echo '{\"extend\": \"system\"}' >/mnt/a/b/p.json", 0 },
        { "cd /mnt/a/b; echo '{\"extend\": \"./q.json\"}' >p.json; echo '{\"extend\": "
          "\"./p.json\"}' "
          ">q.json",
          "q.json': /extend: policy '/mnt/a/b/p.json': it extends itself",
          "echo '{\"extend\": \"strict\"}' >/mnt/a/b/q.json", 0 },
        { "echo '{\"extend\": \"../q.json\"}' >/mnt/a/b/p.json", "it is not there",
          "echo '{}' >/mnt/a/q.json", 0 },
        { "echo '{\"extend\": \"../q.json\"}' >/mnt/a/b/p.json; echo '{\"x\":1}' >/mnt/a/q.json",
          "policy '/mnt/a/q.json': /x: there is no such key", "echo '{}' >/mnt/a/q.json", 0 },
        { "echo '{\"extend\": \"../q.json\"}' >/mnt/a/b/p.json; echo '{}' >/mnt/a/q.json; chmod "
          "g+w "
          "/mnt/a/q.json",
          "file '/mnt/a/q.json' can be written by its group", "chmod g-w /mnt/a/q.json", 0 },
        { "mkdir -m 777 /mnt/x; echo '{\"extend\": \"/mnt/x/q\"}' >/mnt/a/b/p.json; echo "
          "'{\"name\":\"q\"}' >/mnt/x/q",
          "/extend: policy '/mnt/x/q': the folder '/mnt/x' can be written", "chmod 755 /mnt/x", 0 },
        { "cd /mnt/a/b; echo '{\"extend\": \"./1.json\"}' >p.json; for i in 1 2 3 4 5 6 7; do echo "
          "\"{\\\"extend\\\": \\\"./$((i + 1)).json\\\"}\" >$i.json; done; echo '{\"extend\": "
          "\"./9.json\"}' >8.json; echo '{}' >9.json",
          "more than 8 policies extend each other", "echo '{}' >/mnt/a/b/7.json", 0 },
    };

    TRY_ROWS (rows);
}

/* ---- what is in it ---- */
static void test_contents (void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "" },
        { "\"noNewPrivilege\": true", "/noNewPrivilege: there is no such key" },
        { "\"annotations\": {\"io.agentrt.memory\": \"1\"}", "/annotations: there is no such key" },
        { "\"limits\": {\"cpus\": 1}", "/limits/cpus: there is no such key" },
        { "\"allow\": {\"everything\": true}", "/allow/everything: there is no such key" },
        { "\"name\": \"strict\"", "/name: 'strict' is the name of a built-in policy" },
        { "\"name\": \"a b\"", "/name: 'a b' is no name" },
        { "\"name\": \"a\", \"name\": \"b\"", "name" },
        { "\"network\": \"host\"", "/network" },
        { "\"limits\": {\"memory\": 0}", "/limits/memory: 0 is too little" },
        { "\"limits\": {\"memory\": -1}", "" },
        { "\"limits\": {\"memory\": -2}", "/limits/memory" },
        { "\"limits\": {\"memory\": 1e9}", "/limits/memory" },
        { "\"limits\": {\"pids\": 0}", "/limits/pids: 0" },
        { "\"limits\": {\"milliCpus\": 0}", "/limits/milliCpus: 0" },
        { "\"limits\": {\"nofile\": 0}", "/limits/nofile: 0" },
        { "\"limits\": {\"swap\": 0, \"core\": 0}", "" },
        { "\"rootfs\": {\"tmp\": {\"size\": 0}}", "/rootfs/tmp/size: 0" },
        { "\"rootfs\": {\"shm\": {\"inodes\": 0}}", "/rootfs/shm/inodes: 0" },
        { "\"capabilities\": [\"CAP_KILL\"]", "" },
        { "\"capabilities\": [\"KILL\"]", "/capabilities[0]: there is no capability 'KILL'" },
        { "\"capabilities\": [\"ALL\"]", "" },
        { "\"capabilities\": [\"ALL\", \"CAP_KILL\"]", "/capabilities: ALL stands alone" },
        { "\"allow\": {\"capabilities\": [\"ALL\"]}", "/allow/capabilities[0]: there is no" },
        { "\"mounts\": {\"accept\": [\"/srv\", \"data\"]}", "/mounts/accept[1]: 'data' is not an" },
        { "\"devices\": {\"allowed\": [\"null\"]}", "/devices/allowed[0]: 'null' is not an" },
        { "\"paths\": {\"masked\": [\"\"]}", "/paths/masked[0]" },
        { "\"paths\": {\"readonly\": [\"x\"]}", "/paths/readonly[0]" },
        { "\"allow\": {\"mounts\": [\"x\"]}", "/allow/mounts[0]" },
        { "\"allow\": {\"devices\": [\"x\"]}", "/allow/devices[0]" },
        { "\"allow\": null, \"limits\": null, \"name\": null, \"network\": null", "" },
        { "\"namespaces\": {\"own\": [\"net\"]}", "/namespaces/own[0]" },
        { "\"noNewPrivileges\": \"yes\"", "/noNewPrivileges: expected a boolean" },
    };
    char command[512];

    fresh (0);
    for (size_t i = 0; i < ARRAY_LEN (rows); i++) {
        const char *got;

        (void)snprintf (command, sizeof command, "echo '{%s}' >" PFILE, rows[i].text);
        sh (command);
        got = outcome (PFILE, 0);
        if (!ok (*rows[i].want ? strstr (got, rows[i].want) != NULL : *got == '\0', "{%s}",
                 rows[i].text))
            printf ("# got  %s\n# want %s\n", got, rows[i].want);
    }
}

/* ---- what comes out ---- */
static struct policy loaded (const char *wanted)
{
    struct policy p = { 0 };
    struct err e = { 0 };

    if (policy_load (wanted, &arena, &p, &e) < 0)
        printf ("# %s\n", e.msg);
    return p;
}

static void test_result (void)
{
    struct policy p, same, other;

    fresh (0);
    p = loaded (PFILE);
    (void)ok (p.doc && strcmp (p.name, "p") == 0 && strcmp (p.file, PFILE) == 0,
              "a file's name is its own without .json");
    (void)ok (p.doc->limits->pids == 7 && p.doc->limits->nofile == 1024 && !p.doc->extend,
              "a policy extends strict when it does not say what");
    sh ("ln -s b/p.json /mnt/a/l.json; echo '{ \"limits\":{ \"pids\":7}, \"sysctl\": \"own\" }' "
        ">/mnt/a/p.json");
    same = loaded (BOX "/a/b/../l.json");
    (void)ok (strcmp (same.file, PFILE) == 0, "its path is where it is");
    other = loaded (BOX "/a/p.json");
    (void)ok (strcmp (p.digest, other.digest) == 0, "what means the same has the same digest");
    sh ("echo '{\"limits\": {\"pids\": 8}}' >/mnt/a/p.json");
    other = loaded (BOX "/a/p.json");
    (void)ok (strcmp (p.digest, other.digest) != 0, "what does not has not");
    (void)ok (chdir (BOX "/a") == 0 && strcmp (loaded ("./b/p.json").file, PFILE) == 0,
              "a relative path counts from the current folder");
    (void)ok (chdir ("/") == 0, "back");
}

/* ---- which one ---- */
static void test_choice (void)
{
    struct policy p = { 0 };
    struct err e = { 0 };

    for (const char *const *name = policy_names (); *name; name++)
        (void)ok (loaded (*name).doc && !loaded (*name).file, "%s is chosen by its name", *name);
    (void)ok (policy_load ("p.json", &arena, &p, &e) == -ENOENT && strstr (e.msg, "needs a '/'"),
              "a name that is none: %s", e.msg);
    (void)ok (policy_load (BOX "/none/p.json", &arena, &p, &e) == -ENOENT && !p.doc,
              "a named file that is not there is no reason to take another one");

    /* The host's: /etc is ours here. */
    sh ("mount -t tmpfs -o mode=755 etc /etc");
    (void)ok (strcmp (loaded (NULL).name, POLICY_DEFAULT) == 0, "no file: the default");
    sh ("mkdir /etc/agentrt");
    (void)ok (strcmp (loaded (NULL).name, POLICY_DEFAULT) == 0, "no file in the folder: likewise");
    sh ("echo '{\"extend\": \"system\", \"name\": \"host\"}' >/etc/agentrt/policy.json");
    (void)ok (strcmp (loaded (NULL).name, "host") == 0, "the host's file");
    (void)ok (strcmp (loaded ("oci").name, "oci") == 0, "what is asked for comes before it");
    sh ("chmod o+w /etc/agentrt");
    (void)ok (policy_load (NULL, &arena, &p, &e) == -EPERM, "not to be trusted: nothing runs");
    sh ("chmod o-w /etc/agentrt; echo '{\"extend\": \"./base.json\"}' >/etc/agentrt/policy.json");
    (void)ok (policy_load (NULL, &arena, &p, &e) < 0 && strstr (e.msg, "base.json"),
              "what it extends is not there: nothing runs, and not the default");
    sh ("ln -sf nothing /etc/agentrt/policy.json");
    (void)ok (policy_load (NULL, &arena, &p, &e) == -ELOOP, "a link that leads nowhere: likewise");
    sh ("rm -r /etc/agentrt; ln -s nothing /etc/agentrt");
    (void)ok (policy_load (NULL, &arena, &p, &e) == -ELOOP,
              "a folder that leads nowhere: likewise");
    sh ("umount /etc");
}

/* ---- what is kept ---- */
static void test_kept (void)
{
    struct policy p, back = { 0 };
    struct oci_policy changed;
    struct err e = { 0 };

    fresh (0);
    p = loaded (PFILE);
    (void)ok (policy_from_kept (p.doc, p.digest, &arena, &back, &e) == 0 &&
                  back.doc->limits->pids == 7 && strcmp (back.name, "p") == 0 &&
                  strcmp (back.digest, p.digest) == 0,
              "the policy comes back");
    changed = *p.doc;
    changed.sysctl = OCI_SYSCTL_ANY;
    (void)ok (policy_from_kept (&changed, p.digest, &arena, &back, &e) == -EUCLEAN,
              "not when it was changed: %s", e.msg);
    (void)ok (policy_from_kept (p.doc, NULL, &arena, &back, &e) == -EUCLEAN,
              "not when nobody knows its digest");
    changed = *p.doc;
    changed.limits = NULL;
    changed.has_network = false;
    p.doc = &changed;
    (void)ok (policy_digest (&p, &arena, &e) == 0 &&
                  policy_from_kept (&changed, p.digest, &arena, &back, &e) == 0 &&
                  back.doc->limits->pids == 128 && back.doc->network == OCI_NETWORK_NONE,
              "a key that an older version did not know is strict's");
}

static void test_digest (void)
{
    char buf[DIGEST_MAX];

    (void)tap_is (digest_sha256 ("abc", 3, buf),
                  "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                  "SHA-256 of FIPS 180-4's example");
    (void)tap_is (digest_sha256 ("", 0, buf),
                  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                  "SHA-256 of nothing");
}

int main (void)
{
    test_digest ();
    if (geteuid () != 0 || unshare (CLONE_NEWNS) < 0 ||
        mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount ("box", BOX, "tmpfs", 0, "mode=755") < 0) {
        (void)ok (true, "the rest # SKIP needs root");
        return tap_done ();
    }
    (void)umask (022);
    test_trust ();
    test_kinds ();
    test_extend ();
    test_contents ();
    test_result ();
    test_choice ();
    test_kept ();
    arena_free (&arena);
    return tap_done ();
}
