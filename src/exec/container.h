#pragma once
/*
 * The life of a container: what each command does, once its options are parsed.
 *
 * The only module in which two processes exist. It instantiates the two step lists of
 * plan/steps.def: the parent's list around clone3, the child's list after it, and the messages
 * between them. Every effect on the host is undone by walking the executed parent steps backwards.
 * Never prints: text for people that is no error goes through the caller's `note`.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"
#include "libocispec/strbuf.h"
#include "state/state.h"

/* What every command knows. */
struct container_env {
    const char *root;    /* state root: --root, else state_default_root */
    const char *policy;  /* --policy: a name or a file; NULL: the default */
    bool no_cgroup;      /* --cgroup-manager disabled */
    bool systemd_cgroup; /* create, run: systemd makes the cgroup. Others go by the state */
    char *const *argv;   /* the whole command line, to run it again from a sealed copy */
    void (*record) (const char *text);          /* one line for the --log file only; may be NULL */
    void (*note) (int level, const char *text); /* enum log_level of base/log.h; may be NULL */
};

struct container_create_options {
    const char *id;
    const char *bundle;   /* folder with config.json; "." when not given */
    const char *config;   /* NULL: config.json in the bundle; else a path */
    const char *pid_file; /* NULL: none. Decimal, no newline, only on success, before exit */
    const char
        *console_socket;      /* AF_UNIX path that gets the pty; required for terminal + detached */
    const char *pidfd_socket; /* AF_UNIX path that gets a pidfd of init */
    bool no_pivot, no_new_keyring;
    bool detach;               /* run -d */
    bool keep;                 /* run --keep: state and cgroup stay after the exit */
    unsigned int preserve_fds; /* beyond LISTEN_FDS */
};

struct container_exec_options {
    const char *id;
    const char *process_file; /* --process: a JSON file; else the fields below */
    char *const *args;        /* NULL-terminated */
    const char *cwd, *user;   /* user: UID[:GID] */
    const char *const *env;   /* NULL-terminated K=V, added to the container's */
    const char *const *caps;  /* NULL-terminated CAP_X, added */
    const uint32_t *gids;
    size_t n_gids;
    const char *process_label, *apparmor;
    const char *const *cgroups; /* NULL-terminated [CONTROLLERS:]PATH; NULL: the container's own */
    const char *pid_file, *console_socket, *pidfd_socket;
    bool tty, detach, no_new_privs, ignore_paused;
    unsigned int preserve_fds;
};

struct container_mounts_options {
    const char *id;
    const char *file; /* a JSON array of mounts as in config.json */
    bool remove;
};

/* checkpoint and restore: what criu is to do. NULL and false: its defaults. */
struct container_criu_options {
    const char *id;
    const char *image_path, *work_path; /* NULL: "checkpoint"; the images' folder */
    const char *parent_path;            /* relative to image_path */
    const char *page_server;            /* ADDRESS:PORT */
    const char *manage_cgroups, *network_lock, *lsm_profile, *lsm_mount_context;
    const char *const *empty_ns; /* NULL-terminated */
    bool leave_running, pre_dump, tcp_established, tcp_skip_in_flight, tcp_close, link_remap;
    bool ext_unix_sk, shell_job, lazy_pages, file_locks, auto_dedup;
    unsigned int status_fd;                        /* 0: none */
    const struct container_create_options *create; /* restore */
};

struct container_update_options {
    const char *id;
    const char *file;                            /* --resources: a JSON file, "-": standard input;
                                                    NULL: none */
    const struct oci_linux_resources *resources; /* by options, on top of it */
};

struct container_events_options {
    const char *id;
    bool stats; /* one line, at once */
    int64_t interval_ms;
    int (*report) (const struct strbuf *line, struct err *e);
};

/* create: init waits at the gate. Everything is undone on failure. */
int container_create (const struct container_env *env, const struct container_create_options *o,
                      struct err *e);
/* create + start; foreground: waits, forwards signals, removes the container. *RET_STATUS is what
 * the command should exit with: the workload's code, or 128+N. */
int container_run (const struct container_env *env, const struct container_create_options *o,
                   int *ret_status, struct err *e);
int container_start (const struct container_env *env, const char *id, struct err *e);
/* *RET_STATUS as above (0 when detached). A failure before the process runs returns an error. */
int container_exec (const struct container_env *env, const struct container_exec_options *o,
                    int *ret_status, struct err *e);
/* SIG to init. ALL: to every process of its cgroup, and a stopped container is no error.
 * "container not running" when stopped. */
int container_kill (const struct container_env *env, const char *id, int sig, bool all,
                    struct err *e);
/* Freezes or thaws all of its processes, and waits until that is so. -EINVAL, "container not
 * running" or "container not paused". */
int container_pause (const struct container_env *env, const char *id, struct err *e);
int container_resume (const struct container_env *env, const char *id, struct err *e);
/* Other limits: what is asked for, in the bounds of the policy that the container was made under.
 * All of it or, on failure, nothing. They are kept in its config. */
int container_update (const struct container_env *env, const struct container_update_options *o,
                      struct err *e);
/* What it uses at each interval, and each kill for want of memory, as lines of JSON, until it ends.
 * "container with id ID is not running". */
int container_events (const struct container_env *env, const struct container_events_options *o,
                      struct err *e);
/* FORCE: kills first, cleans half-made ones, and an unknown id is success. */
int container_delete (const struct container_env *env, const char *id, bool force, struct err *e);
/* The OCI state document, status looked up now (paused included). */
int container_state (const struct container_env *env, const char *id, struct arena *a,
                     struct oci_state *ret, struct err *e);
/* All process ids of the container, ascending. */
int container_pids (const struct container_env *env, const char *id, struct arena *a, pid_t **ret,
                    size_t *ret_n, struct err *e);
/* Mounts FILE's mounts in a running container, by the rules of the policy that is kept with it, or
 * unmounts what is mounted at their destinations. Adding is all or nothing. */
int container_mounts (const struct container_env *env, const struct container_mounts_options *o,
                      struct err *e);
/* By the criu program. Without leave_running and pre_dump the container is then gone. */
int container_checkpoint (const struct container_env *env, const struct container_criu_options *o,
                          struct err *e);
/* As container_run. Only under a policy that confines nothing: what comes back is in the files. */
int container_restore (const struct container_env *env, const struct container_criu_options *o,
                       int *ret_status, struct err *e);
