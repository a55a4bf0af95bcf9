/*
 * The container's side of SCMP_ACT_NOTIFY.
 *
 * Once the filter is loaded, it may deny every system call by which its descriptor could be handed
 * over, or ask an agent for it that has no descriptor to answer by. So a second thread, born before
 * and therefore without the filter, does that; the first one makes no system call meanwhile, and
 * looks at memory. The thread shares the table of descriptors, leaves no process behind to be
 * waited for, and execve could not leave it alive. A failure ends the process: who was to answer
 * tells the reason.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "exec/run.h"
#include "exec/sync.h"

#define STACK_SIZE (64 * 1024)
#define NOT_YET    -1
#define NO_FILTER  -2
#define LOOK_MS    1 /* how often; loading takes a few of them at most */

struct hand_over {
    const struct run *run;
    atomic_int fd; /* the descriptor, once there is a filter */
    pid_t tid;     /* the kernel writes 0 when the thread has ended */
    alignas (16) char stack[STACK_SIZE];
};

static int hand_over (const struct run *r, int fd)
{
    struct err ignored;
    int result;

    if (r->gate_conn >= 0)
        return state_gate_listener (r->gate_conn, fd);
    result = sync_send_listener (r->sync, fd, &ignored);
    return result < 0 ? result : sync_expect (r->sync, SYNC_GO, &ignored);
}

/* Stands on a stack that AddressSanitizer does not know. */
__attribute__ ((no_sanitize_address)) static int thread_main (void *arg)
{
    struct hand_over *h = arg;
    int fd;

    while ((fd = atomic_load (&h->fd)) == NOT_YET)
        (void)sched_yield (); /* cannot fail */
    if (fd >= 0 && hand_over (h->run, fd) < 0)
        _exit (1); /* of the whole process */
    if (fd >= 0)
        cleanup_fd (&fd);
    (void)syscall (SYS_exit, 0); /* of the thread */
    return 0;
}

static int start_thread (struct hand_over *h, struct err *e)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

    if (clone (thread_main, h->stack + STACK_SIZE, flags, h, &h->tid, NULL, &h->tid) >= 0)
        return 0;
    return err_sys (e, "/linux/seccomp: a thread that hands the listener over%s",
                    errno == EAGAIN ? " (limit of pids)" : "");
}

static int install_beside_thread (const struct run *r, struct err *e)
{
    struct hand_over h;
    int fd = -1;
    int result;

    h.run = r;
    h.tid = 0;
    atomic_init (&h.fd, NOT_YET);
    if (start_thread (&h, e) < 0)
        return -e->code;
    result = seccomp_install (&r->filter, &fd, e);
    atomic_store (&h.fd, result < 0 ? NO_FILTER : fd);
    while (*(volatile pid_t *)&h.tid != 0)
        ; /* a system call to wait by is what the filter may deny */
    return result;
}

/* ---- exec, without no_new_privs ---- */
struct listener_page {
    atomic_int fd; /* the child's number of it */
    atomic_bool fetched;
};

int listener_page_make (struct run *r, struct err *e)
{
    void *p = mmap (NULL, sizeof *r->listener_page, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return err_sys (e, "map memory for a descriptor's number");
    r->listener_page = p;
    atomic_init (&r->listener_page->fd, NOT_YET);
    return 0;
}

void listener_page_free (struct run *r)
{
    if (r->listener_page)
        (void)munmap (r->listener_page, sizeof *r->listener_page);
    r->listener_page = NULL;
}

/* -EPIPE: the child ended before it had one. */
static int await_number (const struct run *r, int child, int *ret, struct err *e)
{
    struct pollfd end = { .fd = child, .events = POLLIN };

    while ((*ret = atomic_load (&r->listener_page->fd)) == NOT_YET)
        if (poll (&end, 1, LOOK_MS) > 0)
            return err_set (e, EPIPE, "the child ended");
    return 0;
}

int listener_fetch (const struct run *r, int child, struct err *e)
{
    int number = NOT_YET;
    AUTO_FD fd = -1;
    int result = run_expect (r, SYNC_LISTENER, e);

    if (result == 0)
        result = await_number (r, child, &number, e);
    if (result < 0 || number == NO_FILTER) /* the child says why */
        return result;
    fd = (int)syscall (SYS_pidfd_getfd, child, number, 0);
    if (fd < 0)
        return err_sys (e, "/linux/seccomp: take the listener from the process");
    result = agent_hand_over (r, fd, e);
    atomic_store (&r->listener_page->fetched, result == 0);
    return result;
}

static int install_outside (const struct run *r, struct err *e)
{
    struct listener_page *page = r->listener_page;
    int fd = -1;
    int result = sync_send (r->sync, SYNC_LISTENER, e);

    if (result < 0)
        return result;
    result = seccomp_install (&r->filter, &fd, e);
    atomic_store (&page->fd, result < 0 ? NO_FILTER : fd);
    while (result == 0 && !atomic_load (&page->fetched))
        ; /* who does not fetch it kills us */
    return result;
}

/* ---- both ---- */
int listener_install_filter (const struct run *r, struct err *e)
{
    int none;

    if (!(r->filter.flags & SECCOMP_FILTER_FLAG_NEW_LISTENER))
        return seccomp_install (&r->filter, &none, e);
    return r->listener_page ? install_outside (r, e) : install_beside_thread (r, e);
}
