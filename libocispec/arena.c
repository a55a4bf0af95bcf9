#include "arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    alignas (max_align_t) unsigned char data[];
};

#define CHUNK_SIZE ((size_t)16 * 1024 - sizeof (struct arena_chunk))

static struct arena_chunk *chunk_new (struct arena *a, size_t need)
{
    size_t size = need > CHUNK_SIZE ? need : CHUNK_SIZE;
    struct arena_chunk *c = calloc (1, sizeof *c + size);

    if (!c)
        return NULL;
    c->size = size;
    c->next = a->head;
    a->head = c;
    return c;
}

void *arena_alloc (struct arena *a, size_t size)
{
    struct arena_chunk *c = a->head;
    void *p;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + alignof (max_align_t) - 1) & ~(alignof (max_align_t) - 1);
    if (!c || c->size - c->used < size)
        c = chunk_new (a, size);
    if (!c)
        return NULL;
    p = c->data + c->used;
    c->used += size;
    return p;
}

void *arena_calloc (struct arena *a, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow (count, size, &bytes))
        return NULL;
    return arena_alloc (a, bytes);
}

char *arena_strndup (struct arena *a, const char *s, size_t len)
{
    char *p = len < SIZE_MAX ? arena_alloc (a, len + 1) : NULL;

    if (p)
        memcpy (p, s, len);
    return p;
}

char *arena_strdup (struct arena *a, const char *s)
{
    return arena_strndup (a, s, strlen (s));
}

char *arena_printf (struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start (ap, fmt);
    n = vsnprintf (NULL, 0, fmt, ap);
    va_end (ap);
    p = n >= 0 ? arena_alloc (a, (size_t)n + 1) : NULL;
    if (!p)
        return NULL;
    va_start (ap, fmt);
    (void)vsnprintf (p, (size_t)n + 1, fmt, ap);
    va_end (ap);
    return p;
}

void arena_free (struct arena *a)
{
    while (a->head) {
        struct arena_chunk *c = a->head;

        a->head = c->next;
        free (c);
    }
}
