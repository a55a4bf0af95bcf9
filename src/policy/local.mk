libagentrt_a_SOURCES += %D%/policy.c %D%/policy.h
libagentrt_a_SOURCES += %D%/guard.c %D%/guard.h
