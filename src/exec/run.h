#pragma once
/*
 * Inside exec/: the one context that the steps of both processes work on, and the engine that walks a
 * list. After clone3 each process has its own copy; only descriptors and messages cross.
 */
#include <limits.h>

#include "cgroup/cgroup.h"
#include "exec/container.h"
#include "harden/harden.h"
#include "mnt/mnt.h"
#include "ns/ns.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "state/state.h"

struct run {
    const struct container_env *env;
    const struct container_create_options *create; /* NULL in exec */
    const struct container_exec_options *exec;     /* NULL in create and run */
    bool starts_at_once;                           /* run: no gate for a later `start` */
    struct arena *arena;

    /* decided */
    const struct oci_config *config;
    struct policy_result policy;
    struct plan plan;

    /* the host's side */
    int root_dir;   /* state root */
    int bundle_dir; /* the bundle */
    struct state state;
    struct oci_saved_state saved;
    bool hooks_ran; /* a runtime hook was started, so poststop hooks are due if this fails */

    /* prepared for the child */
    int procfs;
    struct ns_fds ns;
    struct mnt_sources sources;
    struct seccomp_filter filter;
    struct cgroup cgroup;
    struct state_gate gate;
    int console;    /* connected socket that gets the pty, -1: no terminal */
    int tty_parent; /* run -t: the parent's end of that pair, else -1 */
    int init_pidfd; /* exec: the container's init */

    /* between the two */
    int sync;       /* this process's end */
    int sync_child; /* the child's end, closed in the parent after clone3 */
    pid_t pid;      /* the child, as the parent sees it */
    int pidfd;

    /* the child's own */
    struct mnt mnt;
    int report;             /* where the outcome of execve is told */
    int chdir_error;        /* errno of the first chdir, tried again as the container's user */
    const char *executable; /* what execve gets */
    char executable_buf[PATH_MAX];
    char home[PATH_MAX]; /* "HOME=..." */
    char **env_home;     /* slot for it in the environment, NULL when it is set already */
};

/* Descriptors at -1. */
void run_init (struct run *r, const struct container_env *env, struct arena *a);
/* Closes every descriptor; the child and the state stay as they are. */
void run_close (struct run *r);

struct step {
    const char *name;
    bool (*wanted) (const struct plan *p);
    int (*act) (struct run *r, struct err *e);
    int (*check) (struct run *r, struct err *e);
    void (*undo) (struct run *r); /* parent only; works on what a failed act left, too */
};

extern const struct step parent_steps[], child_steps[];
extern const size_t n_parent_step_functions, n_child_step_functions;

/* The parent's whole list; on failure undoes what was done. When the child failed first, its error is
 * the one returned. */
int run_parent (struct run *r, struct err *e);

/* The child after clone3: its list, then execve. Never returns. */
void run_child (struct run *r) __attribute__ ((noreturn));

/* clone3 by the plan: directly, or from inside joined namespaces. Sets pid and pidfd. */
int run_clone (struct run *r, struct err *e);

/* prepare.c: what only the parent's `prepare` row does, for create and for exec. */
int prepare_create (struct run *r, struct err *e);
int prepare_exec (struct run *r, struct err *e);

/* hooks.c: runs KIND with the container's state on stdin. */
int run_hooks (struct run *r, int kind, enum state_status status, pid_t pid, struct err *e);

/* program.c, in the child: HOME, the working directory and the program. */
int program_chdir (struct run *r, struct err *e);
int program_find (struct run *r, struct err *e);
int program_set_home (struct run *r, struct err *e);
