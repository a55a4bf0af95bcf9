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

# docs/config-reference.md and the keys of agentrt-policy.json(5) come from the rows; make check tells
# when they are out of date.
noinst_PROGRAMS += libocispec/gendoc libocispec/genman
libocispec_gendoc_SOURCES = %D%/gendoc.c
libocispec_gendoc_LDADD = libagentrt.a $(agentrt_libs)
libocispec_genman_SOURCES = %D%/genman.c
libocispec_genman_LDADD = libagentrt.a $(agentrt_libs)
policy_man = $(srcdir)/docs/man/agentrt-policy.json.5
docs-reference: libocispec/gendoc libocispec/genman
	libocispec/gendoc >$(srcdir)/docs/config-reference.md
	libocispec/genman >genman.out
	sed -e '/begin keys/r genman.out' -e '/begin keys/,/end keys/{/ keys$$/!d;}' $(policy_man) >man.out
	mv man.out $(policy_man) && rm genman.out
.PHONY: docs-reference
