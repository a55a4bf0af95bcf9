#pragma once
/*
 * Ranges of ids for containers with a user namespace of their own (policy: identity userns).
 *
 * The ranges are those of the user `agentrt` (or else `containers`) in /etc/subuid and /etc/subgid,
 * cut into pieces of 65536. Which are taken is kept beside the default state root, for containers
 * of all state roots: a symbolic link for each piece that leads to the state of who has it. Where
 * that has gone the piece is free, so nothing has to be given back.
 */
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

#define SUBID_SIZE 65536U

struct subid {
    uint32_t uid, gid; /* the first of SUBID_SIZE each */
};

struct subid_pieces {
    const uint32_t *first; /* the first id of each */
    size_t n;
};

/* The pieces that TEXT, in the form of /etc/subuid, gives. FILE is for messages. -ENOENT: none,
 * with how to add some. */
int subid_parse (const char *text, const char *file, struct arena *a, struct subid_pieces *ret,
                 struct err *e);

/* 0 if the host has pieces at all, whoever has them; else why not. Takes none. */
int subid_look (struct arena *a, struct err *e);

/* Chooses a piece that nobody has, for the container whose state will be STATE (an absolute path).
 * *RET_LOCK keeps all others from choosing and is to be closed once that folder is there: until
 * then the choice would look as if its container had gone. */
int subid_choose (const char *state, struct arena *a, struct subid *ret, int *ret_lock,
                  struct err *e);
