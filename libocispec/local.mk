libagentrt_a_SOURCES += %D%/err.c %D%/err.h %D%/arena.c %D%/arena.h %D%/strbuf.h \
	%D%/ocispec.h %D%/rows.def %D%/rows_undef.def \
	%D%/config.def %D%/state.def %D%/features.def %D%/enums.def
