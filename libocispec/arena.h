#pragma once
/*
 * An arena: memory that is given back all at once.
 *
 * Owns every string and array of a parsed document or a plan. Nothing in it is freed singly, so a
 * document is immutable once made and needs no destructor. Not for data whose size a peer controls
 * without a cap: callers cap their input first.
 */
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *head; /* newest chunk; all zero is an empty arena */
};

/* SIZE zeroed bytes, aligned for any type; NULL when memory is out. */
void *arena_alloc (struct arena *a, size_t size);

/* COUNT x SIZE zeroed bytes; NULL when memory is out or the product overflows. */
void *arena_calloc (struct arena *a, size_t count, size_t size);

/* A copy of LEN bytes of S with a NUL behind it; NULL when memory is out. */
char *arena_strndup (struct arena *a, const char *s, size_t len);
char *arena_strdup (struct arena *a, const char *s);

/* The formatted text; NULL when memory is out. */
char *arena_printf (struct arena *a, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));

/* Gives all of it back; the arena is then empty and can be used again. */
void arena_free (struct arena *a);

#define AUTO_ARENA __attribute__ ((cleanup (arena_free))) struct arena
