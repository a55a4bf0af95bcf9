libagentrt_a_SOURCES += \
	%D%/args.c %D%/args.h \
	%D%/checkpoint.c \
	%D%/cmd.c %D%/cmd.h \
	%D%/create.c \
	%D%/criu.c %D%/criu.h \
	%D%/delete.c \
	%D%/events.c \
	%D%/exec.c \
	%D%/explain.c \
	%D%/features.c \
	%D%/help.c \
	%D%/kill.c \
	%D%/launch.c %D%/launch.h \
	%D%/list.c \
	%D%/mounts.c \
	%D%/pause.c \
	%D%/policy.c \
	%D%/ps.c \
	%D%/regex.c %D%/regex.h \
	%D%/resume.c \
	%D%/restore.c \
	%D%/run.c \
	%D%/signals.c %D%/signals.h \
	%D%/spec.c \
	%D%/start.c \
	%D%/state.c \
	%D%/update.c \
	%D%/version.c

check_PROGRAMS += tests/unit/test_args tests/unit/test_cmdline tests/unit/test_signals
tests_unit_test_args_SOURCES = tests/unit/test_args.c
tests_unit_test_args_LDADD = $(unit_libs)
tests_unit_test_cmdline_SOURCES = tests/unit/test_cmdline.c
tests_unit_test_cmdline_LDADD = $(unit_libs)
tests_unit_test_signals_SOURCES = tests/unit/test_signals.c
tests_unit_test_signals_LDADD = $(unit_libs)
