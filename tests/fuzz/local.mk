# Fuzz targets: ./configure CC=clang --enable-fuzz, then
#   make fuzz-corpus && tests/fuzz/fuzz_config -max_len=65536 tests/fuzz/corpus
EXTRA_DIST += %D%/corpus.sh
if FUZZ
noinst_PROGRAMS += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_SOURCES = %D%/fuzz_config.c
tests_fuzz_fuzz_config_LDADD = $(unit_libs)
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

fuzz-corpus:
	$(SHELL) $(srcdir)/%D%/corpus.sh %D%/corpus $(srcdir)
.PHONY: fuzz-corpus
