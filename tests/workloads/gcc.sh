#!/bin/sh
# gcc and make: C and C++ in parallel, threads, and the address and undefined-behaviour sanitizers.
set -eu
for i in 1 2 3 4 5 6 7 8; do echo "int f$i (void) { return $i; }" >"f$i.c"; done
cat >main.c <<'END'
#include <pthread.h>
#include <stdio.h>
int f1 (void), f8 (void);
static void *run (void *arg)
{
    *(int *)arg = f1 () + f8 ();
    return NULL;
}
int main (void)
{
    pthread_t t;
    int sum = 0;
    if (pthread_create (&t, NULL, run, &sum) || pthread_join (t, NULL))
        return 1;
    return printf ("%d\n", sum) < 0;
}
END
cat >hello.cc <<'END'
#include <future>
#include <iostream>
#include <stdexcept>
#include <vector>
int main ()
{
    auto f = std::async (std::launch::async, [] { return std::vector<int> (10, 4).size (); });
    try {
        throw std::runtime_error ("caught");
    } catch (const std::exception &e) {
        std::cout << e.what () << ' ' << f.get () << std::endl;
    }
}
END
printf 'int main (int n, char **v) { int a[2] = { 0 }; (void)v; return a[n + 5]; }\n' >bad.c
printf 'int main (int n, char **v) { (void)v; return (0x7fffffff + n) == 0; }\n' >overflow.c
cat >Makefile <<'END'
all: prog hello asan bad overflow
prog: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o
	gcc -pthread -o $@ $^
asan: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o
	gcc -fsanitize=address,undefined -pthread -o $@ $^
hello: hello.cc
	g++ -O1 -pthread -o $@ $<
bad: bad.c
	gcc -g -fsanitize=address -o $@ $<
overflow: overflow.c
	gcc -fsanitize=undefined -fno-sanitize-recover=all -o $@ $<
%.o: %.c
	gcc -O1 -g -c -o $@ $<
END
make -s -j4
[ "$(./prog)" = 9 ] && [ "$(./hello)" = 'caught 10' ]
# The leak sanitizer is a debugger, and those are denied (docs/seccomp.md).
export ASAN_OPTIONS=detect_leaks=0
[ "$(./asan)" = 9 ]
! ./bad 2>bad.log && grep -q stack-buffer-overflow bad.log
! ./overflow 2>overflow.log && grep -q 'signed integer overflow' overflow.log
echo passed
