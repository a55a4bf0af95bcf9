#pragma once
/*
 * The state directory: one folder per container below the state root, and what it says.
 *
 *   ROOT/ID/            mkdir of it is the claim: exactly one create wins
 *   ROOT/ID/state.json  struct oci_saved_state, replaced atomically; before any other effect
 *   ROOT/ID/state.copy  the same, for delete --force where somebody broke state.json
 *   ROOT/ID/config.json the effective config (what exec and hooks obey)
 *   ROOT/ID/policy.json the policy that it comes from (what exec obeys, too)
 *   ROOT/ID/exec.fifo   locked (OFD) by the container's init until its execve: created <=> locked
 *   ROOT/ID/gate.sock   where `start` knocks
 *   ROOT/.cache/        compiled seccomp filters
 *
 * Identity of a process is pidfd or (pid, start time). Changes are made under an flock of the
 * folder. Nothing is synced to disk: the root is on /run, and a state outlives no reboot; what a
 * crash can leave (an empty folder, a missing or cut-off file) is handled by every command and
 * removed by delete --force. A state of another version or of another container is never obeyed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

enum state_status {
    STATUS_CREATING,
    STATUS_CREATED,
    STATUS_RUNNING,
    STATUS_PAUSED,
    STATUS_STOPPED
};
extern const char *const state_status_names[];

/* The default root: /run/agentrt for the host's root; $XDG_RUNTIME_DIR/agentrt for anyone else
 * and for root of a user namespace whose USER is not root (as runc). */
int state_default_root (struct arena *a, const char **ret, struct err *e);

/* Opens (and with MAKE makes, 0700, its parents too; sticky below XDG_RUNTIME_DIR, so that
 * systemd-tmpfiles lets it be) the root. PATH is absolute. "/", a symbolic link, and a folder of
 * another owner or writable by others are refused: whoever owns the root decides what runs
 * (CVE-2019-12439). MAKE false and nothing there: *RET is -1 and 0 is returned. */
int state_open_root (const char *path, bool make, int *ret, struct err *e);

/* All ids, sorted. Claimed folders without a state are in it; what is no id is left out. */
int state_list (int root, struct arena *a, const char *const **ret, size_t *ret_n, struct err *e);

struct state {
    const char *id;                      /* borrowed */
    int root;                            /* borrowed */
    int dir;                             /* ROOT/ID */
    bool locked;                         /* we hold the lock */
    bool recovered;                      /* SAVED is from the copy: state.json is broken */
    const struct oci_saved_state *saved; /* NULL where nothing was written: a bare claim */
};

/* mkdir. An existing one: "container with given ID already exists", -EEXIST. Returns locked. */
int state_claim (int root, const char *id, struct state *ret, struct err *e);

/* Opens and reads state.json. Unknown: "container does not exist", -ENOENT. LOCK also locks, and
 * waits for it at most 60 s, LOCK_SHORT 3 s, LOCK_NOW not at all (-ETIMEDOUT). With ALLOW_BROKEN
 * (delete --force) a bad or missing state.json is no error: saved is what the copy says, or NULL if
 * nothing can have been made yet; a container of which nothing can be read stays (-EUCLEAN). */
enum state_open_flags {
    STATE_LOCK = 1,
    STATE_ALLOW_BROKEN = 2,
    STATE_LOCK_SHORT = 4,
    STATE_LOCK_NOW = 8
};
int state_open (int root, const char *id, int flags, struct arena *a, struct state *ret,
                struct err *e);

/* A foreground run lets others lock while its container lives, and locks again for the end. Then
 * -ENOENT, "container does not exist", if it was deleted meanwhile (and another may have the
 * id). */
void state_unlock (struct state *s);
int state_lock (struct state *s, struct err *e);

/* Unlocks and closes. */
void state_close (struct state *s);
/* In a child, which shares the parent's open file and with it the lock: lets go of the folder
 * without unlocking it. Must come early: else a lock outlives a parent that was killed. */
void state_disown (struct state *s);

/* Replaces state.json; s->saved is SAVED afterwards (borrowed). */
int state_write (struct state *s, const struct oci_saved_state *saved, struct err *e);
/* state.json and its copy read back as SAVED. */
int state_write_check (const struct state *s, const struct oci_saved_state *saved, struct arena *a,
                       struct err *e);
int state_write_config (const struct state *s, const struct oci_config *config, struct err *e);
int state_read_config (const struct state *s, struct arena *a, const struct oci_config **ret,
                       struct err *e);
/* The merged document of the policy that the container was made under. */
int state_write_policy (const struct state *s, const struct oci_policy *policy, struct err *e);
int state_read_policy (const struct state *s, struct arena *a, const struct oci_policy **ret,
                       struct err *e);

/* Unlinks what is in ROOT/ID and the folder, state.json and the folder last, so that a delete
 * that was killed can be repeated. Gone already is success. */
int state_remove (struct state *s, struct err *e);

/* Looks at the processes; PAUSED is the caller's to find out (cgroup/ is not below). A create
 * that was killed is no longer CREATING once its init is gone. */
int state_status (const struct state *s, enum state_status *ret, struct err *e);

/* pidfd of the saved init if it is still that process, else -ESRCH (stopped; zombies count as
 * stopped). */
int state_pidfd (const struct oci_saved_state *saved, struct err *e);
/* PID, a child of the caller that it has not reaped, is still the program that forked it. */
bool state_has_not_executed (pid_t pid);
/* Field 22 of PID's stat: clock ticks since boot. */
int state_start_time (pid_t pid, uint64_t *ret, struct err *e);

/* Whether the saved init is stopped by a signal (SIGSTOP): it does nothing until SIGCONT. */
bool state_is_halted (const struct oci_saved_state *saved);

/* The OCI state document of S, without "owner". Pid 0 when stopped. Looks nothing up. */
void state_oci (const struct state *s, enum state_status status, struct oci_state *ret);
/* The name of the user who created it: from /etc/passwd and not through NSS; "#UID" if it is not
 * there. NULL when memory is out. */
const char *state_owner (const struct oci_saved_state *saved, struct arena *a);
