#include "base/clock.h"

#include <time.h>

int64_t clock_us (void)
{
    struct timespec t = { 0 };

    (void)clock_gettime (CLOCK_MONOTONIC, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_ms (void)
{
    return clock_us () / 1000;
}
