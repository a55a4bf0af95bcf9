libagentrt_a_SOURCES += %D%/given.c %D%/decide.c %D%/mounts.c %D%/criu.c %D%/criu.h %D%/checkpoint.c \
	%D%/restore.c
libagentrt_a_SOURCES += %D%/container.h %D%/container.c %D%/run.h %D%/run.c %D%/clone.c \
	%D%/parent.c %D%/child.c %D%/prepare.c %D%/reopen.c %D%/destroy.c %D%/wait.c %D%/query.c %D%/pause.c %D%/update.c %D%/events.c \
	%D%/agent.c %D%/listener.c %D%/exec.c %D%/enter.c %D%/hooks.c %D%/program.c %D%/passwd.c %D%/passwd.h %D%/pidfile.c %D%/pidfile.h \
	%D%/facts.c %D%/facts.h %D%/sync.c %D%/sync.h %D%/pod.c %D%/pod.h %D%/subid.c %D%/subid.h

check_PROGRAMS += tests/unit/test_subid
tests_unit_test_subid_SOURCES = tests/unit/test_subid.c
tests_unit_test_subid_LDADD = $(unit_libs)
