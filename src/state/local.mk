libagentrt_a_SOURCES += %D%/state.c %D%/state.h %D%/root.c %D%/process.c %D%/oci.c \
	%D%/gate.c %D%/gate.h
