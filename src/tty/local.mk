libagentrt_a_SOURCES += %D%/tty.h %D%/pty.c %D%/stdio.c %D%/proxy.c

check_PROGRAMS += tests/unit/test_tty
tests_unit_test_tty_SOURCES = tests/unit/test_tty.c
tests_unit_test_tty_LDADD = $(unit_libs)
