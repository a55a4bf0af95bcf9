libagentrt_a_SOURCES += %D%/cleanup.h %D%/fd.h %D%/num.h %D%/log.h %D%/str.h
