/* Every command line that engines send (oci-matrix 1.3), through the commands' own tables. */
#include "cmd/args.h"
#include "cmd/cmd.h"
#include "tap.h"

#define MAX_WORDS 32

/* TEXT at its blanks. */
static void split (char *text, char *words[MAX_WORDS])
{
    size_t n = 0;

    for (char *w = strtok (text, " "); w && n + 1 < MAX_WORDS; w = strtok (NULL, " "))
        words[n++] = w;
    words[n] = NULL;
}

#define GLOBALS "--root R --log B/log.json --log-format json "

static const struct {
    const char *line, *command, *want;
} engines[] = {
    /* containerd-shim-runc-v2: Docker and CRI */
    { GLOBALS "create --bundle B --pid-file B/init.pid ID", "create", "ID" },
    { GLOBALS "--systemd-cgroup --rootless=false create --bundle B --pid-file B/init.pid "
              "--console-socket S --no-pivot --no-new-keyring ID",
      "create", "ID" },
    { GLOBALS "start ID", "start", "ID" },
    { GLOBALS "kill --all ID 9", "kill", "ID 9" },
    { GLOBALS "kill ID 15", "kill", "ID 15" },
    { GLOBALS "ps --format json ID", "ps", "ID" },
    { GLOBALS "exec --process /tmp/runc-process1 --console-socket S --detach --pid-file B/E.pid ID",
      "exec", "ID" },
    { GLOBALS "delete ID", "delete", "ID" },
    { GLOBALS "delete --force ID", "delete", "ID" },
    { GLOBALS "pause ID", "pause", "ID" },
    { GLOBALS "resume ID", "resume", "ID" },
    { GLOBALS "update --resources=- ID", "update", "ID" },
    { "update --resources=/tmp/f ID", "update", "ID" },
    { "--root=R update --resources - ID", "update", "ID" },
    { "update ID --memory 67108864 --memory-swap -1", "update", "ID" },
    { "--root R events --stats ID", "events", "ID" },
    { "events --interval 1s ID", "events", "ID" },
    { "features", "features", "" },
    /* go-runc hard-codes the single dash */
    { GLOBALS "run -no-subreaper --bundle B ID", "run", "ID" },
    { GLOBALS "checkpoint --image-path P --work-path W --parent-path X --tcp-established "
              "--ext-unix-sk --shell-job --file-locks --empty-ns network --leave-running ID",
      "checkpoint", "ID" },
    { GLOBALS "restore --image-path P --work-path W --detach --pid-file P --console-socket S "
              "--no-pivot -no-subreaper --bundle B ID",
      "restore", "ID" },
    /* conmon: Podman and CRI-O */
    { "restore --bundle B --pid-file P --no-pivot --no-new-keyring --detach --image-path I "
      "--work-path B --tcp-established --tcp-close --file-locks --lsm-mount-context=L "
      "--lsm-profile=selinux:L ID",
      "restore", "ID" },
    { "--systemd-cgroup --log-format=json --log L --cgroup-manager disabled create --bundle B "
      "--pid-file P --no-pivot --no-new-keyring --preserve-fds 1 --console-socket S ID",
      "create", "ID" },
    { "exec --pid-file P --process F --detach --preserve-fds 2 --console-socket S ID", "exec",
      "ID" },
    { "exec --pid-file P --process F --detach --tty --console-socket S ID", "exec", "ID" },
    { "create --bundle B --pid-file P ID", "create", "ID" },
    { "start ID", "start", "ID" },
    { "kill ID 9", "kill", "ID 9" },
    { "delete --force ID", "delete", "ID" },
    /* Buildah */
    { "--systemd-cgroup create --bundle B --pid-file P --no-new-keyring --no-pivot "
      "--console-socket S NAME",
      "create", "NAME" },
    { "state NAME", "state", "NAME" },
    { "kill NAME SIGKILL", "kill", "NAME SIGKILL" },
    { "kill NAME", "kill", "NAME" },
    { "delete NAME", "delete", "NAME" },
    /* BuildKit */
    { "--log X/runc-log.json --log-format json run --bundle B --no-pivot --keep ID", "run", "ID" },
    { "exec --process F --pid-file P ID", "exec", "ID" },
    /* CRI-O */
    { "--root R --systemd-cgroup exec --process F ID", "exec", "ID" },
    { "--root=R kill -a ID 15", "kill", "ID 15" },
    { "--root=R kill ID SIGTERM", "kill", "ID SIGTERM" },
    { "--root=R state ID", "state", "ID" },
    { "--root=R checkpoint --file-locks --image-path I --work-path W --leave-running ID",
      "checkpoint", "ID" },
    /* go-runc's API */
    { "--root R --criu /usr/sbin/criu --debug list --format json", "list", "" },
    { "--rootless=true list -q", "list", "" },
    /* people */
    { "--root /r run -d -b /b --pid-file p c1", "run", "c1" },
    { "exec -t -e A=1 -e B=2 -u 1000:100 --cwd / c1 sh -c --help", "exec", "c1 sh -c --help" },
    { "ps c1 -o pid,comm", "ps", "c1 -o pid,comm" },
};

static void join (const struct args *args, char *buf, size_t size)
{
    size_t len = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < args->n; i++)
        len += (size_t)snprintf (buf + len, size - len, "%s%s", i ? " " : "", args->operands[i]);
}

/* Parses LINE as cmd_main does; GOT has the operands, or the error. */
static const struct command *parse_line (const char *text, char *got, size_t size)
{
    AUTO_ARENA a = {};
    char line[512], *words[MAX_WORDS];
    const struct command *command;
    struct globals globals = {};
    struct args args = {};
    struct err e = {};

    (void)snprintf (line, sizeof line, "%s", text);
    split (line, words);
    if (args_parse (&global_rule, words, &globals, &a, &args, &e) < 0) {
        (void)snprintf (got, size, "%s", e.msg);
        return NULL;
    }
    command = cmd_find (args.operands[0]);
    if (!command)
        return NULL;
    if (args_parse (&command->rule, args.operands + 1, arena_alloc (&a, command->options_size), &a,
                    &args, &e) < 0) {
        (void)snprintf (got, size, "%s", e.msg);
        return NULL;
    }
    join (&args, got, size);
    return command;
}

static void test_engines (void)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const struct command *command;
        char got[512] = "";

        command = parse_line (engines[i].line, got, sizeof got);
        (void)tap_is (command ? command->name : NULL, engines[i].command, engines[i].line);
        if (command)
            (void)tap_is (got, engines[i].want, "its operands");
    }
}

int main (void)
{
    test_engines ();
    return tap_done ();
}
