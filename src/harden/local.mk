libagentrt_a_SOURCES += %D%/caps.c %D%/caps.h %D%/fds.c %D%/fds.h %D%/ids.c %D%/ids.h \
	%D%/keyring.c %D%/keyring.h %D%/lsm.c %D%/lsm.h %D%/nnp.c %D%/nnp.h %D%/oom.c %D%/oom.h \
	%D%/rlimit.c %D%/rlimit.h %D%/sched.c %D%/sched.h %D%/seccomp.h %D%/self.c %D%/self.h \
	%D%/status.c %D%/status.h
