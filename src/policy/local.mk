libagentrt_a_SOURCES += %D%/policy.c %D%/policy.h
