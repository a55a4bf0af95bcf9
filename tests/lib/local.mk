# What the tests share. The helper program is static: it also runs inside containers.
EXTRA_PROGRAMS += tests/lib/probe
check_DATA += tests/lib/probe
tests_lib_probe_SOURCES = %D%/probe.c %D%/agent.c %D%/agent.h
tests_lib_probe_CPPFLAGS = -D_GNU_SOURCE
tests_lib_probe_CFLAGS = $(WARN_CFLAGS)
tests_lib_probe_LDFLAGS = -static

# What valgrind lacks: loaded into the runtime under test (tests/lib/valgrind.sh), not linked.
EXTRA_PROGRAMS += tests/lib/openat2.so
tests_lib_openat2_so_SOURCES = %D%/openat2.c
tests_lib_openat2_so_CPPFLAGS = -D_GNU_SOURCE
tests_lib_openat2_so_CFLAGS = $(WARN_CFLAGS) -fPIC
tests_lib_openat2_so_LDFLAGS = -shared
EXTRA_DIST += %D%/cage %D%/count.sh %D%/demo.sh %D%/helpers.bash %D%/image.sh \
	%D%/quiet.sh %D%/snapshot.sh %D%/valgrind.sh %D%/valgrind.supp tests/run-all \
	contrib/debian-build-packages \
	contrib/debian-test-packages
CLEANFILES += tests/lib/probe tests/lib/openat2.so

# A container from nothing but busybox: needs root.
demo: all
	AGENTRT='$(abs_builddir)/agentrt' $(SHELL) $(srcdir)/%D%/demo.sh
.PHONY: demo
