#pragma once
/*
 * Inside exec/: the criu program, which writes a container's processes to files and makes them
 * again.
 *
 * Owns its command line, its start and what its log says. Found in the caller's PATH by an absolute
 * folder, never in a container.
 */
#include "exec/run.h"

/* A command line that grows in the arena. */
struct criu_args {
    struct arena *arena;
    char **v; /* NULL-terminated */
    size_t n, max;
    bool failed; /* memory was out */
};

/* One word, by a format. */
void criu_add (struct criu_args *args, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The folder of the files, as asked for. */
const char *criu_images (const struct container_criu_options *o);

/* Namespaces that others made are not part of the container: criu knows them by a key. */
#define CRIU_OUTSIDE 2
extern const struct criu_outside {
    enum plan_ns_kind kind;
    const char *name, *key;
} criu_outside[CRIU_OUTSIDE];

/* Begins ARGS with VERB and what dump and restore share: folders, log, what O asks for. *RET_LOG is
 * the path of the log. The folders are made. */
int criu_begin (struct run *r, const char *verb, const struct container_criu_options *o,
                struct criu_args *args, const char **ret_log, struct err *e);

/* Runs it and waits. ENTER: as a process of R's cgroup, with our standard streams, which become the
 * container's; else with none. Descriptors in KEEP are handed on. A failure tells the last error of
 * LOG. */
struct criu_call {
    const char *log;
    bool enter;
    const int *keep;
    size_t n_keep;
};
int criu_run (struct run *r, const struct criu_args *args, const struct criu_call *c,
              struct err *e);

/* restore.c: everything up to a recorded, running container. */
int restore_container (struct run *r, const struct container_criu_options *o, struct err *e);
