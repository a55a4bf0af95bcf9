# What the tests share. The helper program is static: it also runs inside containers.
EXTRA_PROGRAMS += tests/lib/probe
check_DATA += tests/lib/probe
tests_lib_probe_SOURCES = %D%/probe.c
tests_lib_probe_CPPFLAGS = -D_GNU_SOURCE
tests_lib_probe_CFLAGS = $(WARN_CFLAGS)
tests_lib_probe_LDFLAGS = -static
EXTRA_DIST += %D%/cage %D%/image.sh %D%/helpers.bash
CLEANFILES += tests/lib/probe
