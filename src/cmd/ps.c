/*
 * ps: the processes of a container.
 *
 * The table is the host's own ps, run by an absolute path of the caller's PATH: nothing of the
 * container is run or read for it. Only the rows of the container's processes pass.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cmd/cmd.h"

/* Far more than the processes of any host; a limit there must be. */
#define PS_OUTPUT_MAX ((size_t)64 << 20)

enum ps_format { PS_TABLE, PS_JSON };
static const char *const formats[] = { "table", "json", NULL };

struct ps_options {
    int format;
};

static const struct opt ps_table[] = {
    { "format", 'f', OPT_CHOICE, offsetof (struct ps_options, format), NULL, "form of the output",
      formats },
    {},
};

struct pids {
    pid_t *v; /* ascending */
    size_t n;
};

static void print_json (const struct pids *pids)
{
    (void)putchar ('[');
    for (size_t i = 0; i < pids->n; i++)
        (void)printf ("%s%d", i ? "," : "", pids->v[i]);
    (void)puts ("]");
}

/* ps in the first absolute folder of PATH that has it. */
static int find_ps (char *buf, size_t size, struct err *e)
{
    const char *dir = getenv ("PATH") ?: "/usr/bin:/bin";

    while (*dir) {
        int len = (int)strcspn (dir, ":");
        int n = snprintf (buf, size, "%.*s/ps", len, dir);

        if (*dir == '/' && n > 0 && (size_t)n < size && access (buf, X_OK) == 0)
            return 0;
        dir += len + (dir[len] == ':');
    }
    return err_set (e, ENOENT,
                    "the table is made by ps(1), which is not in PATH: use --format json");
}

/* Starts PS with ARGS; what it prints can be read from *RET_OUT. */
static int start_ps (const char *ps, char *const *args, pid_t *ret_pid, int *ret_out, struct err *e)
{
    posix_spawn_file_actions_t actions;
    int pipe_fd[2];
    int r;

    if (pipe2 (pipe_fd, O_CLOEXEC) < 0)
        return err_sys (e, "pipe");
    r = posix_spawn_file_actions_init (&actions);
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2 (&actions, pipe_fd[1], STDOUT_FILENO);
        if (r == 0)
            r = posix_spawn (ret_pid, ps, &actions, NULL, args, environ);
        (void)posix_spawn_file_actions_destroy (&actions);
    }
    (void)close (pipe_fd[1]);
    if (r != 0) {
        (void)close (pipe_fd[0]);
        errno = r;
        return err_sys (e, "run '%s'", ps);
    }
    *ret_out = pipe_fd[0];
    return 0;
}

static int wait_ps (pid_t pid, struct err *e)
{
    int status;

    while (waitpid (pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys (e, "wait for ps");
    if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
        return 0;
    return err_set (e, EIO, "ps failed: see what it says above");
}

/* ARGS[0] is replaced by the path of ps. All that it prints, in the arena. */
static int read_ps (const struct call *c, char **args, char **ret, struct err *e)
{
    char path[PATH_MAX];
    AUTO_FD out = -1;
    pid_t pid;
    int r;

    if (find_ps (path, sizeof path, e) < 0)
        return -e->code;
    args[0] = path;
    if (start_ps (path, args, &pid, &out, e) < 0)
        return -e->code;
    r = fd_read_all (out, "output of ps", PS_OUTPUT_MAX, c->arena, ret, NULL, e);
    if (r < 0) {
        struct err ignored;

        (void)kill (pid, SIGKILL); /* it may wait for a reader of what is too much */
        (void)wait_ps (pid, &ignored);
        return r;
    }
    return wait_ps (pid, e);
}

/* The start of the Nth word of LINE, or of its end. */
static const char *word (const char *line, size_t n)
{
    line += strspn (line, " ");
    while (n-- > 0) {
        line += strcspn (line, " ");
        line += strspn (line, " ");
    }
    return line;
}

static int pid_column (const char *header, size_t *ret, struct err *e)
{
    for (size_t i = 0; *word (header, i); i++) {
        const char *w = word (header, i);

        if (strncmp (w, "PID", 3) == 0 && (w[3] == ' ' || w[3] == '\0')) {
            *ret = i;
            return 0;
        }
    }
    return err_set (e, EINVAL, "ps prints no column PID: use arguments such as -ef");
}

static bool has_pid (const struct pids *pids, const char *text)
{
    long pid = strtol (text, NULL, 10); /* ps's own column: a number with blanks around it */

    for (size_t i = 0; i < pids->n; i++)
        if (pids->v[i] == pid)
            return true;
    return false;
}

static int print_table (const struct pids *pids, char *text, struct err *e)
{
    char *line = strsep (&text, "\n");
    size_t column;

    if (pid_column (line, &column, e) < 0)
        return -e->code;
    (void)puts (line);
    while ((line = strsep (&text, "\n")))
        if (has_pid (pids, word (line, column)))
            (void)puts (line);
    return 0;
}

/* ps -ef, or ps with the operands behind the id. */
static char **ps_args (const struct call *c)
{
    char **args = arena_calloc (c->arena, c->n_operands + 2, sizeof *args);

    if (!args)
        return NULL;
    memcpy (args + 1, c->operands + 1, (c->n_operands - 1) * sizeof *args);
    if (c->n_operands == 1)
        args[1] = arena_strdup (c->arena, "-ef");
    return args;
}

static int run_ps (const struct call *c, struct err *e)
{
    const struct ps_options *o = c->options;
    struct pids pids;
    char **args = ps_args (c);
    char *text;

    if (!args)
        return err_oom (e);
    if (container_pids (&c->env, c->operands[0], c->arena, &pids.v, &pids.n, e) < 0)
        return -e->code;
    if (o->format == PS_JSON) {
        print_json (&pids);
        return 0;
    }
    return read_ps (c, args, &text, e) < 0 ? -e->code : print_table (&pids, text, e);
}

const struct command cmd_ps = {
    .name = "ps",
    .summary = "Shows the processes of a container",
    .rule = { .tables = { ps_table },
              .usage = "ID [PS-ARGUMENT...]",
              .min = 1,
              .max = ARGS_NO_LIMIT,
              .stop_at_operand = true },
    .options_size = sizeof (struct ps_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_ps,
};
