libagentrt_a_SOURCES += %D%/caps.h %D%/fds.h %D%/ids.h %D%/keyring.h %D%/lsm.h %D%/nnp.h %D%/oom.h \
	%D%/rlimit.h %D%/sched.h %D%/seccomp.h %D%/self.h
