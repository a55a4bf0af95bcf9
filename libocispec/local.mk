libagentrt_a_SOURCES += \
	%D%/arena.c %D%/arena.h \
	%D%/config.def %D%/enums.def %D%/features.def %D%/state.def \
	%D%/emit.c \
	%D%/err.c %D%/err.h \
	%D%/json.c %D%/json.h \
	%D%/ocispec.h %D%/rows.def %D%/rows_undef.def \
	%D%/parse.c \
	%D%/strbuf.c %D%/strbuf.h \
	%D%/tables.c %D%/type.h \
	%D%/utf8.c %D%/utf8.h
