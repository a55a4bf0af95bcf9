/*
 * turns N COMMAND... -- COMMAND... [-- ...]: runs the commands in turn, N rounds, and prints for
 * each the median and the 10th and 90th percentile of its wall time in microseconds, and the
 * median's ratio to the first one's. In turn and as a ratio because machines are noisy. Output of
 * the commands is dropped.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

#define MAX_COMMANDS 16

struct command {
    char **argv;
    double *us;
};

static double now_us (void)
{
    struct timespec ts;

    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double run_once (char **argv)
{
    posix_spawn_file_actions_t fa;
    double start = now_us ();
    int status;
    pid_t pid;

    (void)posix_spawn_file_actions_init (&fa);
    (void)posix_spawn_file_actions_addopen (&fa, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen (&fa, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp (&pid, argv[0], &fa, NULL, argv, environ) != 0) {
        perror (argv[0]);
        exit (1);
    }
    (void)posix_spawn_file_actions_destroy (&fa);
    if (waitpid (pid, &status, 0) < 0 || !WIFEXITED (status) || WEXITSTATUS (status) != 0) {
        fprintf (stderr, "turns: %s failed (status %d)\n", argv[0], status);
        exit (1);
    }
    return now_us () - start;
}

static int compare (const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static size_t split (char **argv, struct command *commands, size_t rounds)
{
    size_t n = 0;

    while (*argv && n < MAX_COMMANDS) {
        commands[n++] = (struct command){ .argv = argv, .us = calloc (rounds, sizeof (double)) };
        while (*argv && strcmp (*argv, "--") != 0)
            argv++;
        if (*argv)
            *argv++ = NULL;
    }
    return n;
}

int main (int argc, char **argv)
{
    struct command commands[MAX_COMMANDS];
    size_t rounds = argc > 2 ? strtoul (argv[1], NULL, 10) : 0;
    size_t n = rounds ? split (argv + 2, commands, rounds) : 0;

    if (n == 0) {
        fprintf (stderr, "usage: turns N COMMAND... [-- COMMAND...]\n");
        return 2;
    }
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < n; i++)
            commands[i].us[round] = run_once (commands[i].argv);
    for (size_t i = 0; i < n; i++) {
        double *us = commands[i].us;

        qsort (us, rounds, sizeof *us, compare);
        printf ("%-40s median %8.0f us  p10 %8.0f  p90 %8.0f  ratio %.2f\n", commands[i].argv[0],
                us[rounds / 2], us[rounds / 10], us[rounds * 9 / 10],
                us[rounds / 2] / commands[0].us[rounds / 2]);
    }
    return 0;
}
