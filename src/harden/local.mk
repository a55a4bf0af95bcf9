libagentrt_a_SOURCES += %D%/caps.c %D%/caps.h %D%/fds.c %D%/fds.h %D%/ids.c %D%/ids.h \
	%D%/keyring.c %D%/keyring.h %D%/lsm.c %D%/lsm.h %D%/nnp.c %D%/nnp.h %D%/oom.c %D%/oom.h \
	%D%/rlimit.c %D%/rlimit.h %D%/sched.c %D%/sched.h %D%/seccomp.c %D%/seccomp.h \
	%D%/seccomp_cache.c %D%/seccomp_cache.h %D%/seccomp_compile.c %D%/seccomp_compile.h \
	%D%/seccomp_conditions.c %D%/seccomp_stub.c %D%/self.c %D%/self.h %D%/status.c %D%/status.h \
	%D%/strict.c %D%/strict.h

check_PROGRAMS += tests/unit/test_caps tests/unit/test_fds tests/unit/test_harden \
	tests/unit/test_seccomp tests/unit/test_seccomp_cache tests/unit/test_strict \
	tests/unit/test_strict_real
tests_unit_test_caps_SOURCES = tests/unit/test_caps.c tests/unit/act.h tests/unit/child.h
tests_unit_test_caps_LDADD = $(unit_libs)
tests_unit_test_harden_SOURCES = tests/unit/test_harden.c tests/unit/act.h tests/unit/child.h
tests_unit_test_harden_LDADD = $(unit_libs)
tests_unit_test_fds_SOURCES = tests/unit/test_fds.c
tests_unit_test_fds_LDADD = $(unit_libs)
tests_unit_test_seccomp_SOURCES = tests/unit/test_seccomp.c tests/unit/bpf.h \
	tests/unit/seccomp_profile.h
tests_unit_test_seccomp_LDADD = $(unit_libs)
tests_unit_test_seccomp_cache_SOURCES = tests/unit/test_seccomp_cache.c tests/unit/seccomp_profile.h
tests_unit_test_seccomp_cache_LDADD = $(unit_libs)
EXTRA_DIST += tests/data/seccomp-docker28.json

# The strict filter is made while agentrt is built, by a program for the machine that builds.
strictgen_sources = %D%/strictgen.c %D%/strict_table.c
EXTRA_DIST += $(strictgen_sources) %D%/strict_table.h %D%/strict.def
BUILT_SOURCES += %D%/strict_filter.inc
CLEANFILES += %D%/strict_filter.inc %D%/strictgen
%D%/strictgen: $(strictgen_sources) %D%/strict_table.h %D%/strict.def
	$(AM_V_CC)$(MKDIR_P) %D% && $(CC_FOR_BUILD) $(CFLAGS_FOR_BUILD) -D_GNU_SOURCE -o $@ \
		$(strictgen_sources:%=$(srcdir)/%)
%D%/strict_filter.inc: %D%/strictgen
	$(AM_V_GEN)%D%/strictgen code >$@.new && mv $@.new $@
%D%/strict.$(OBJEXT): %D%/strict_filter.inc

# docs/seccomp-calls.md comes from the same table; make check tells when it is out of date.
docs-seccomp: %D%/strictgen
	%D%/strictgen doc >$(srcdir)/docs/seccomp-calls.md
.PHONY: docs-seccomp

tests_unit_test_strict_SOURCES = tests/unit/test_strict.c tests/unit/bpf.h \
	tests/unit/strict_model.h tests/unit/seccomp_profile.h %D%/strict_table.c %D%/strict_table.h
tests_unit_test_strict_LDADD = $(unit_libs)
tests_unit_test_strict_real_SOURCES = tests/unit/test_strict_real.c tests/unit/act.h \
	tests/unit/child.h tests/unit/seccomp_profile.h %D%/strict_table.c %D%/strict_table.h
tests_unit_test_strict_real_LDADD = $(unit_libs)
