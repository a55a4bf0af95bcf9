#pragma once
/*
 * What parent and child tell each other: fixed-size messages over a SOCK_SEQPACKET pair, so each
 * arrives whole or not at all. An error is a struct err, carried as it is.
 */
#include <stdbool.h>

#include "libocispec/err.h"

enum sync_type {
    SYNC_GO,        /* parent: the step that you wait for is done */
    SYNC_MOUNTED,   /* child: the mounts stand */
    SYNC_READY,     /* child: every row up to the gate ran and was checked */
    SYNC_HANDED,    /* child: I no longer die with you */
    SYNC_EXECUTING, /* child: execve is next; end of file after this means that it succeeded */
    SYNC_LISTENER,  /* child: the descriptor of my filter's notifications; waits for SYNC_GO */
    SYNC_ERROR,     /* child: this failed */
};

/* Makes the pair; both ends close-on-exec. */
int sync_pair (int *ret_parent, int *ret_child, struct err *e);

/* A stream pair over which the child hands its terminal to a foreground command. */
int sync_console_pair (int *ret_parent, int *ret_child, struct err *e);

int sync_send (int sock, enum sync_type type, struct err *e);
/* Child: sends E. Best effort: nobody is left to hear about a failure of it. EPIPE, which is this
 * module's word for an end without a message, arrives as EIO. */
void sync_send_error (int sock, const struct err *failure);

/* Waits for WANT. A SYNC_ERROR becomes E; end of file is -EPIPE "the other side ended". */
int sync_expect (int sock, enum sync_type want, struct err *e);

/* Parent: likewise, but a SYNC_LISTENER may come first: its descriptor is *RET_FD then, else -1. */
int sync_expect_or_fd (int sock, enum sync_type want, int *ret_fd, struct err *e);
/* Child: a SYNC_LISTENER. */
int sync_send_listener (int sock, int fd, struct err *e);

/* True when a SYNC_ERROR is waiting: it is then in E, else E is as it was. Does not wait. */
bool sync_pending_error (int sock, struct err *e);

/* After SYNC_EXECUTING, what execve did: 0 when it succeeded, else the child's error. *RET_FD as
 * above: 0 has another meaning then. */
int sync_exec_result (int sock, int *ret_fd, struct err *e);
