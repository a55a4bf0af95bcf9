#include "libocispec/arena.h"

#include <stdint.h>

#include "tap.h"

static bool is_zero (const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void check_alloc (struct arena *a)
{
    static const size_t sizes[] = { 1, 7, 16, 4096, 16384, 100000, 3, 0 };
    bool zero = true, aligned = true;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = arena_alloc (a, sizes[i]);

        zero = zero && p && is_zero (p, sizes[i]);
        aligned = aligned && (uintptr_t)p % _Alignof(max_align_t) == 0;
        if (p)
            memset (p, 0xff, sizes[i]);
    }
    ok (zero, "memory of any size comes zeroed");
    ok (aligned, "and aligned");
    ok (!arena_alloc (a, SIZE_MAX), "a size that cannot be is refused");
    ok (!arena_calloc (a, SIZE_MAX / 2, 3), "a product that overflows is refused");
    ok (arena_calloc (a, 0, 8) != NULL, "nothing of something is not NULL");
}

static void check_text (struct arena *a)
{
    const char *first = arena_strdup (a, "first");

    tap_is (arena_strndup (a, "abcdef", 3), "abc", "strndup copies and ends with NUL");
    tap_is (arena_printf (a, "%s-%05d", "id", 42), "id-00042", "printf formats");
    tap_is (first, "first", "what was made before stays");
    ok (!arena_strndup (a, "x", SIZE_MAX), "a length that cannot be is refused");
}

int main (void)
{
    AUTO_ARENA a = { 0 };

    check_alloc (&a);
    check_text (&a);
    arena_free (&a);
    ok (!a.head, "a freed arena is empty");
    tap_is (arena_strdup (&a, "again"), "again", "and can be used again");
    return tap_done ();
}
