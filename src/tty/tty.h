#pragma once
/*
 * Terminals: the container's pty, its hand-over to an engine, and the proxy of a foreground `run -t`.
 *
 * The pty always comes from the container's own devpts and its peer from TIOCGPTPEER, never from a path
 * (CVE-2025-52565). Never gives the container a terminal of the host (TIOCSTI, security.md A50).
 */
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/err.h"

/* Child: from an open, verified ptmx makes a pty, sets its size (0: leave) and ONLCR off (as runc),
 * returns the controlling side in *RET_MASTER and the peer in *RET_PEER. */
int tty_open (int ptmx, uint16_t rows, uint16_t cols, int *ret_master, int *ret_peer,
              struct err *e);

/* Child: PEER becomes the controlling terminal and descriptors 0-2; owned by UID (container id). */
int tty_take (int peer, uid_t uid, struct err *e);

/* 0-2 are one terminal, and it is the controlling one. */
int tty_take_check (struct err *e);

/* One sendmsg with the descriptor and its name, as shims and conmon expect (oci-matrix 1.4). */
int tty_send (int sock, int master, struct err *e);
/* The other side, for a foreground run. */
int tty_receive (int sock, struct err *e);

/* Foreground: copies between the caller's terminal or pipes and MASTER until the container's side is
 * closed or PIDFD is readable and the rest is drained; passes SIGWINCH on; restores the caller's
 * terminal in every case. SIGNAL_FD: signals to forward to PIDFD. Bounded memory, no busy loop. */
struct tty_proxy;
int tty_proxy_start (int master, struct tty_proxy **ret, struct err *e); /* raw mode */
int tty_proxy_run (struct tty_proxy *p, int pidfd, int signal_fd, struct err *e);
void tty_proxy_stop (struct tty_proxy **p);

/* Descriptors 0-2 that are closed are opened on /dev/null (security.md B78). */
int tty_open_missing_stdio (struct err *e);
/* Child: stdio handed to a container user belongs to it; not for /dev/null, not for host terminals. */
int tty_chown_stdio (uid_t uid, struct err *e);
/* 0-2 are open. */
int tty_stdio_check (struct err *e);
