#pragma once
/*
 * The gate: where a created container's init waits for `start`.
 *
 * Two files of the state folder. `exec.fifo` (runc's name for what stands in this place) is locked
 * by init with an OFD lock that only execve or death lets go, so "created" is a fact of the kernel
 * and not a note that a crash could leave stale. `gate.sock` is a SOCK_SEQPACKET socket; one start
 * is this conversation:
 *
 *   start -> init  1 byte     the knock
 *   init -> start  1 byte     with a descriptor: a filter's notifications, for its agent
 *   start -> init  1 byte     the agent has it; init goes on
 *   init -> start  1 byte     passed: execve is next
 *   init -> start  512 bytes  struct err: it failed, before or in execve; init ends
 *   end of file               execve closed the descriptor (if "passed" came before), or init died
 *
 * "Passed" is what tells a workload that ends at once from an init that was killed at the gate.
 */
#include <stdbool.h>

#include "state/state.h"

/* The files' names, for who removes them. */
#define STATE_GATE_LOCK   "exec.fifo"
#define STATE_GATE_SOCKET "gate.sock"

/* Close-on-exec descriptors, -1 where not made. `signals` is a signalfd of TERM, INT, HUP and QUIT:
 * made early, because a seccomp filter may stand before the gate. */
struct state_gate {
    int listener, lock, signals;
};

/* Parent, before clone3, with S claimed. Both sides close it: a listener that stays open in the
 * parent lets `start` connect to nobody, and its lock descriptor keeps the lock. */
int state_gate_make (const struct state *s, struct state_gate *ret, struct err *e);
void state_gate_close (struct state_gate *g);

/* Init: takes the lock. */
int state_gate_lock (const struct state_gate *g, struct err *e);

/* Init, with all signals blocked: waits for a `start` of the same user (as this user namespace
 * sees it) and returns the connection. TERM, INT, HUP and QUIT end the process with 128+N, also
 * as pid 1 of a pid namespace. Who connects and says nothing is dropped. Allocates nothing. */
int state_gate_wait (const struct state_gate *g, struct err *e);
/* Init, right before execve (and before a filter that might forbid it). A start that has gone
 * away is no error. */
int state_gate_passed (int conn, struct err *e);
/* Init, or a hook of its: `start` hands FD on, then this returns. -EPIPE: it did not. */
int state_gate_listener (int conn, int fd);
/* Init: tells `start` what failed. A plain write(), which filters allow more often than
 * sendto(). */
int state_gate_fail (int conn, const struct err *why);

/* Whether init still waits (or is on its way from the gate to execve). */
bool state_gate_is_locked (const struct state *s);

/* HELD: an error while init can do nothing, as it is stopped or frozen; else 0. HAND_OVER gives a
 * filter's agent the descriptor that init sent. */
struct state_gate_watch {
    int (*held) (const void *data, struct err *e);
    int (*hand_over) (const void *data, int fd, struct err *e);
    const void *data;
};

/* `start`: knocks and waits until the workload runs. Returns init's own error if it sent one;
 * "cannot start a container that has stopped" (-ESRCH) if init is dead or dies meanwhile,
 * noticed at once; what HELD says if it does so now, or for two seconds while we wait. An init that
 * is let go after that has not heard us. */
int state_gate_open (const struct state *s, const struct state_gate_watch *w, struct err *e);
