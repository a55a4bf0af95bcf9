#pragma once
/*
 * Terminals: the container's pty, its hand-over to an engine, and the proxy of a foreground `run
 * -t`.
 *
 * The pty always comes from the container's own devpts and its peer from TIOCGPTPEER, never from a
 * path (CVE-2025-52565). Never gives the container a terminal of the host (TIOCSTI, security.md
 * A50).
 */
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/err.h"

/* Child: PTMX is an open, verified ptmx, and so a new pty. Unlocks it, sets its size (0: leave),
 * returns a second descriptor of it in *RET_MASTER and its other side in *RET_PEER. Newlines
 * stay as the kernel has them: whoever receives the master decides (as with runc). */
int tty_open (int ptmx, uint16_t rows, uint16_t cols, int *ret_master, int *ret_peer,
              struct err *e);

/* Child of a foreground run, before its process can write: ONLCR is off, because the caller's own
 * terminal adds the carriage returns, and a caller that reads a pipe wants none. */
int tty_keep_newlines (int master, struct err *e);

/* Child, in every case: a session of its own, without a terminal. One that it inherits as a mere
 * descriptor takes no TIOCSTI from it and sends it no SIGINT (CVE-2016-7545, CVE-2017-5226). */
int tty_session (struct err *e);
int tty_session_check (struct err *e);

/* Child: PEER becomes descriptors 0-2. It is given to UID (container id) where the user namespace
 * and the file system allow that. */
int tty_wear (int peer, uid_t uid, struct err *e);
/* Child, after tty_session and tty_wear: descriptor 0 becomes the controlling terminal. */
int tty_control (struct err *e);
/* Descriptors 0-2 are this process's controlling terminal. */
int tty_control_check (struct err *e);

/* One sendmsg with the descriptor and the pty's name, as shims and conmon expect (oci-matrix
 * 1.4). */
int tty_send (int sock, int master, struct err *e);
/* The other side, for a foreground run: returns the master. */
int tty_receive (int sock, struct err *e);

/* The size of the caller's terminal in characters; left as they are where it has none. The pty gets
 * it before the process starts, which may ask for it at once. */
void tty_caller_size (uint16_t *rows, uint16_t *cols);

/* Foreground: copies between the caller's terminal or pipes and MASTER (borrowed). `start` takes
 * the size of the caller's terminal over, which may have changed, and sets that to raw; `stop`
 * restores it, in every case. */
struct tty_proxy;
int tty_proxy_start (int master, struct tty_proxy **ret, struct err *e);
/* Returns once PIDFD is readable and what the container wrote is copied; a process that it left
 * behind on the terminal is waited for at most 2 s. SIGNAL_FD is a non-blocking signalfd:
 * SIGWINCH copies the size, the rest is sent to PIDFD. Memory is bounded: a side that does not
 * read stops the other one; a side that is closed is left alone (and output then thrown away),
 * never polled again. */
int tty_proxy_run (struct tty_proxy *p, int pidfd, int signal_fd, struct err *e);
void tty_proxy_stop (struct tty_proxy **p);

/* Descriptors 0-2 that are closed are opened on /dev/null (security.md B78). */
int tty_open_missing_stdio (struct err *e);
/* Child, before it changes its ids: pipes, sockets and files on 0-2 are given to UID (container
 * id), so that it can open /dev/stdout. Devices (/dev/null, terminals of the host) stay as they
 * are, and so does what the user namespace or a read-only file system forbids. */
int tty_chown_stdio (uid_t uid, struct err *e);
/* Descriptors 0-2 are open. */
int tty_stdio_check (struct err *e);
