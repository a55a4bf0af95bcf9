libagentrt_a_SOURCES += %D%/mntopt.h
