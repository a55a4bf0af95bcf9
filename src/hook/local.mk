libagentrt_a_SOURCES += %D%/hook.c %D%/hook.h %D%/tree.c %D%/tree.h

check_PROGRAMS += tests/unit/test_hook
tests_unit_test_hook_SOURCES = tests/unit/test_hook.c
tests_unit_test_hook_LDADD = $(unit_libs)
