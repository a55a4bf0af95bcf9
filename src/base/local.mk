libagentrt_a_SOURCES += %D%/digest.c %D%/digest.h %D%/userns.c %D%/userns.h
libagentrt_a_SOURCES += %D%/cleanup.h %D%/clock.c %D%/clock.h %D%/kernel.h %D%/fd.c %D%/fd.h %D%/log.c %D%/log.h \
	%D%/num.c %D%/num.h %D%/signals.c %D%/signals.h %D%/str.c %D%/str.h

check_PROGRAMS += tests/unit/test_base
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_LDADD = $(unit_libs)
