#pragma once
/*
 * Inside exec/: the one context that the steps of both processes work on, and the engine that
 * walks a list. After clone3 each process has its own copy; only descriptors and messages cross.
 */
#include <limits.h>

#include "cgroup/cgroup.h"
#include "exec/container.h"
#include "harden/caps.h"
#include "harden/fds.h"
#include "harden/ids.h"
#include "harden/keyring.h"
#include "harden/lsm.h"
#include "harden/nnp.h"
#include "harden/oom.h"
#include "harden/rlimit.h"
#include "harden/sched.h"
#include "harden/seccomp.h"
#include "harden/strict.h"
#include "harden/self.h"
#include "mnt/mnt.h"
#include "ns/netdev.h"
#include "ns/network.h"
#include "ns/ns.h"
#include "exec/pod.h"
#include "plan/plan.h"
#include "policy/apply.h"
#include "state/gate.h"
#include "state/state.h"

struct run {
    const struct container_env *env;
    const struct container_create_options *create; /* NULL in exec */
    const struct container_exec_options *exec;     /* NULL in create and run */
    const struct container_criu_options *criu;     /* restore, beside create */
    const struct oci_linux_resources *update;      /* what an update asks for; else NULL */
    bool starts_at_once;                           /* run: no gate for a later `start` */
    struct arena *arena;
    int64_t begun; /* CLOCK_MONOTONIC microseconds: what --debug counts from */

    /* decided */
    const struct oci_config *config;
    const struct oci_process *process; /* exec: the process; create: the config's own */
    struct policy given_policy;
    struct policy_result policy;
    const struct guard_findings *guard; /* what was seen of the binds; NULL: nobody looked */
    struct plan plan;
    struct pod pod; /* the containers whose namespaces are joined */
    int ids_lock;   /* held until the state is there that has the chosen ids, else -1 */

    /* the host's side */
    int root_dir;   /* state root */
    int bundle_dir; /* the bundle */
    struct state state;
    struct oci_saved_state saved;
    struct err left;   /* why a cgroup could not be undone: the state stays for delete --force */
    bool poststop_due; /* there was an init, so its hooks may have left something (runtime-spec) */

    /* prepared for the child */
    int procfs;
    struct ns_fds ns;
    struct mnt_sources sources;
    struct seccomp_filter filter;
    struct cgroup cgroup;
    bool no_clone_into; /* a child cloned into its cgroup was killed at once: not again */
    bool died_at_birth; /* that is what just happened */
    bool *born;         /* shared by the two processes: the child runs. NULL: not mapped */
    struct state_gate gate;
    int console;         /* connected socket that gets the pty, -1: no terminal */
    int tty_parent;      /* run -t: the parent's end of that pair, else -1 */
    int init_pidfd;      /* exec: the container's init */
    uint64_t join_flags; /* exec: CLONE_NEW* of its namespaces that are not ours */
    struct mempolicy mempolicy;
    struct netdev_move netdev;
    pid_t *entered; /* exec: shared memory where the kernel writes the pid of the process */
    struct listener_page *listener_page; /* exec: see listener_fetch; NULL: not needed */

    int signals; /* signalfd of TERM, INT, HUP and QUIT, where they are not ignored; else -1 */

    /* between the two */
    int sync;       /* this process's end */
    int sync_child; /* the child's end, closed in the parent after clone3 */
    pid_t pid;      /* the child, as the parent sees it */
    int pidfd;

    /* the child's own */
    struct mnt mnt;
    struct ns_network network; /* plan.own_network */
    int gate_conn;             /* create: the `start` that opened the gate, else -1 */
    bool no_keyrings;          /* the kernel has none */
    int chdir_error;           /* errno of the first chdir, tried again as the container's user */
    bool cwd_checked;          /* the working directory lies inside, and has not changed since */
    bool look_again;           /* exec: the program is not there as seen from outside */
    const char *executable;    /* what execve gets */
    char executable_buf[PATH_MAX];
    char home[PATH_MAX]; /* "HOME=..." */
};

/* Descriptors at -1. */
void run_init (struct run *r, const struct container_env *env, struct arena *a);
/* Blocks all signals, before there are two processes; those that ask this command to end are then
 * read from R's descriptor. */
int run_block_signals (struct run *r, struct err *e);
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

/* The parent's whole list; on failure undoes what was done. When the child failed first, its error
 * is the one returned. */
int run_parent (struct run *r, struct err *e);

/* Another list of the parent's rows. */
int run_steps (struct run *r, const struct step *steps, size_t n, struct err *e);

/* The child after clone3: its list, then execve. Never returns. */
void run_child (struct run *r) __attribute__ ((noreturn));

/* clone3 by the plan: directly, or from inside joined namespaces. Sets pid and pidfd. */
int run_clone (struct run *r, struct err *e);

/* child.c: dies with the runtime and is hidden, after what may have undone either. */
int child_arm_again (struct run *r, struct err *e);

/* enter.c, exec. Parent: starts the child that stays outside and waits until it has ended; then
 * pid and pidfd are those of the process that it cloned into the container. */
int enter_clone (struct run *r, struct err *e);
/* Child: lets go of the host and clones that process, in which alone this returns. */
int enter_container (struct run *r, struct err *e);
int enter_container_check (struct run *r, struct err *e);

/* clone.c: one child with the namespaces of the plan, that runs its list. */
int clone_child (struct run *r, uint64_t more_flags, uint64_t exit_signal, struct err *e);

/* run.c, in the parent. Waits until FD is readable or its other end has gone; -EINTR after a signal
 * that asks this command to end. */
int run_await (const struct run *r, int fd, struct err *e);
/* Waits so for a message of the child, serving what comes before: see sync.h; and for what its
 * execve does. */
int run_expect (const struct run *r, int want, struct err *e);
int run_await_exec (const struct run *r, struct err *e);
/* E says how the child behind PIDFD, which ended without a word, ended. */
void run_describe_end (struct run *r, int pidfd, struct err *e);
/* A failed start leaves nothing behind; where it must (r->left), E says so. */
void run_tell_left (const struct run *r, struct err *e);
/* Waits for the end of the child behind PIDFD, which was killed or has ended, and forgets it. */
void run_reap (int pidfd);

/* prepare.c: opens and compiles what the child will need. */
int run_need_procfs (struct run *r, struct err *e);
int prepare_create (struct run *r, struct err *e);
int prepare_exec (struct run *r, struct err *e);

/* reopen.c: a container that exists: its state and cgroup. */
int run_reopen (struct run *r, const char *id, int state_flags, struct err *e);
/* Its config too, for who needs it: looking at a container and killing it go without. */
int run_read_config (struct run *r, struct err *e);
int run_status (struct run *r, enum state_status *ret, struct err *e);

/* query.c: SIG to init ("container not running" if it is not); SIGKILL to all where there is no pid
 * namespace that would do it, and thaws. */
int run_signal (struct run *r, int sig, struct err *e);

/* given.c: given_policy. create: what --policy or the host says. exec, update and mounts: what the
 * container was made under, kept with it; never what the host says now. */
int run_given_policy (struct run *r, struct err *e);
/* decide.c: the policy, the facts that it needs, and what it makes of the config. */
int run_decide (struct run *r, struct err *e);
int run_decide_check (struct run *r, struct err *e);
/* A limit that this host cannot enforce is told as the policy's control that it is. Returns
 * RESULT. */
int decide_limit_error (const struct run *r, int result, struct err *e);
/* Once the container is there: what was changed, as one info line. */
void decide_note (const struct run *r);

/* parent.c: goes on as the sealed copy of this program, from the start, if this is not that yet. */
int run_seal (struct run *r, struct err *e);

/* exec.c: rows of the parent's list, where exec differs from create. */
int exec_load (struct run *r, struct err *e);
int exec_plan (struct run *r, struct err *e);

/* decide.c: what the kept policy makes of N more mounts; nothing but policy.config->mounts is then
 * of use. */
int run_decide_mounts (struct run *r, const struct oci_mount *mounts, size_t n, struct err *e);

/* destroy.c: SIGKILL to everything that the state knows of; needs no lock. */
int run_kill_all (struct run *r, struct err *e);
/* There was an init, so its poststop hooks have to run. */
bool run_poststop_is_due (const struct run *r);
/* Kills what is left, removes the cgroup, runs the poststop hooks, removes the state. */
int run_destroy (struct run *r, struct err *e);

/* listener.c, in the child: loads the filter; the descriptor of its notifications, if it has any,
 * goes to the runtime, and from there to the agent, before this returns. */
int listener_install_filter (const struct run *r, struct err *e);
/* exec without no_new_privs: the child stays outside of the pid namespace that its children will be
 * in, and therefore can have no thread. So the runtime fetches the descriptor, from CHILD. */
int listener_page_make (struct run *r, struct err *e);
void listener_page_free (struct run *r);
int listener_fetch (const struct run *r, int child, struct err *e);
/* agent.c, in the runtime. The agent of the filter can be there; and gets listener FD. */
int agent_look (const struct oci_linux_seccomp *s, struct err *e);
int agent_hand_over (const struct run *r, int fd, struct err *e);

/* wait.c: foreground. Waits for the child, forwards signals, serves its terminal; *RET is what the
 * command exits with. */
int run_wait (struct run *r, int *ret, struct err *e);

/* hooks.c: runs KIND with the container's state on stdin. */
int run_hooks (struct run *r, int kind, enum state_status status, pid_t pid, struct err *e);

/* program.c, in the child: HOME, the working directory and the program. */
int program_chdir (struct run *r, struct err *e);
int program_cwd_check (struct run *r, struct err *e);
/* As the container's user: the directory, if the first attempt failed, and the file. */
int program_locate (struct run *r, struct err *e);
/* What CODE of execve, or of a look at the file, means for program NAME: in the texts that engines
 * turn into exit codes. Returns -code. */
int program_error (const char *name, int code, struct err *e);
int program_set_home (struct run *r, struct err *e);
