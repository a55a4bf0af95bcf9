libagentrt_a_SOURCES += %D%/err.c %D%/err.h %D%/arena.c %D%/arena.h %D%/strbuf.h
