libagentrt_a_SOURCES += %D%/helper.c %D%/helper.h %D%/idmap.c %D%/join.c %D%/join.h %D%/ns.c \
	%D%/ns.h %D%/setup.c %D%/sysctl.c
