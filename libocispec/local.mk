libagentrt_a_SOURCES += \
	%D%/arena.c %D%/arena.h \
	%D%/config.def %D%/enums.def %D%/features.def %D%/policy.def %D%/state.def \
	%D%/emit.c \
	%D%/err.c %D%/err.h \
	%D%/json.c %D%/json.h \
	%D%/ocispec.h %D%/rows.def %D%/rows_undef.def \
	%D%/merge.c %D%/diff.c \
	%D%/parse.c \
	%D%/strbuf.c %D%/strbuf.h \
	%D%/tables.c %D%/type.h \
	%D%/utf8.c %D%/utf8.h

check_PROGRAMS += tests/unit/test_arena tests/unit/test_err tests/unit/test_ocispec \
	tests/unit/test_strbuf
tests_unit_test_arena_SOURCES = tests/unit/test_arena.c
tests_unit_test_arena_LDADD = $(unit_libs)
tests_unit_test_err_SOURCES = tests/unit/test_err.c
tests_unit_test_err_LDADD = $(unit_libs)
tests_unit_test_ocispec_SOURCES = tests/unit/test_ocispec.c
tests_unit_test_ocispec_LDADD = $(unit_libs)
tests_unit_test_strbuf_SOURCES = tests/unit/test_strbuf.c
tests_unit_test_strbuf_LDADD = $(unit_libs)

# docs/config-reference.md comes from the rows; make check tells when it is out of date.
noinst_PROGRAMS += libocispec/gendoc
libocispec_gendoc_SOURCES = %D%/gendoc.c
libocispec_gendoc_LDADD = libagentrt.a $(agentrt_libs)
docs-reference: libocispec/gendoc
	libocispec/gendoc >$(srcdir)/docs/config-reference.md
.PHONY: docs-reference
