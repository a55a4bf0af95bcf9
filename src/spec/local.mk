libagentrt_a_SOURCES += %D%/names.c %D%/names.h %D%/mntopt.c %D%/mntopt.h

check_PROGRAMS += tests/unit/test_mntopt
tests_unit_test_mntopt_SOURCES = tests/unit/test_mntopt.c
tests_unit_test_mntopt_LDADD = $(unit_libs)
