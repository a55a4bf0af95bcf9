libagentrt_a_SOURCES += \
	%D%/args.c %D%/args.h \
	%D%/signals.c %D%/signals.h

check_PROGRAMS += tests/unit/test_args tests/unit/test_signals
tests_unit_test_args_SOURCES = tests/unit/test_args.c
tests_unit_test_args_LDADD = $(unit_libs)
tests_unit_test_signals_SOURCES = tests/unit/test_signals.c
tests_unit_test_signals_LDADD = $(unit_libs)
