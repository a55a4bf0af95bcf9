#pragma once
/*
 * Inside policy/: one source held against all rows.
 */
#include "policy/guard.h"
#include "policy/guard_host.h"

/* Something that a row protects, on this host. */
struct guard_thing {
    const struct guard_row *row;
    struct guard_object o;
};

/* What all sources of one look are held against. */
struct guard_scene {
    struct guard_host host;
    const struct guard_request *rq;
    const bool *off;
    struct guard_thing *things;
    size_t n_things, room;
    const char **visited; /* folders that were looked at for an engine's marks */
    size_t n_visited, visited_room;
    struct guard_object *accepted;
    size_t n_accepted;
    struct guard_object root; /* "/" */
    int root_fd;
    struct guard_object own[2];
    size_t n_own; /* bundle and rootfs, where they are there */
};

/* Everything but the sources. Errors are of memory, or of an unreadable passwd. */
int guard_scene_make (struct guard_scene *c, struct err *e);

/* PATH's folders, itself included, that have the marks of an engine's data become things. */
int guard_scene_visit (struct guard_scene *c, const char *path, struct err *e);

/* Holds S, open as FD (-1: it is only known by its mount), against the rows. Sets rule, what, how,
 * thing and shown; where no row refuses it, RET stays as it is. */
void guard_judge (const struct guard_scene *c, const struct guard_source *s, int fd,
                  struct guard_finding *ret);

/* guard_look with the rows of OFF (by index) switched off, for tests. */
int guard_look_without (const struct guard_request *rq, const bool *off, struct arena *a,
                        struct guard_findings *ret, struct err *e);
