libagentrt_a_SOURCES += %D%/names.c %D%/names.h %D%/mntopt.h
