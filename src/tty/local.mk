libagentrt_a_SOURCES += %D%/tty.h %D%/pty.c %D%/stdio.c %D%/proxy.c
