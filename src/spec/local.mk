libagentrt_a_SOURCES += \
	%D%/check.c %D%/check.h %D%/check_linux.c %D%/check_process.c \
	%D%/check_resources.c %D%/check_seccomp.c \
	%D%/default.c %D%/hidden.h %D%/load.c %D%/spec.h \
	%D%/mntopt.c %D%/mntopt.h %D%/names.c %D%/names.h \
	%D%/resources.c %D%/resources.h %D%/sysctl.c %D%/sysctl.h \
	%D%/unitprop.c %D%/unitprop.h

check_PROGRAMS += tests/unit/test_mntopt
tests_unit_test_mntopt_SOURCES = tests/unit/test_mntopt.c
tests_unit_test_mntopt_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/test_spec
tests_unit_test_spec_SOURCES = tests/unit/test_spec.c tests/unit/golden.h
tests_unit_test_spec_LDADD = $(unit_libs)
