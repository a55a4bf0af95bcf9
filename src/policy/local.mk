libagentrt_a_SOURCES += %D%/policy.h
libagentrt_a_SOURCES += %D%/guard.c %D%/guard.h %D%/joins.h
libagentrt_a_SOURCES += %D%/guard.def %D%/guard_host.c %D%/guard_host.h %D%/guard_judge.c \
	%D%/guard_judge.h %D%/guard_scene.c %D%/guard_table.c %D%/guard_table.h

check_PROGRAMS += tests/unit/test_guard tests/unit/test_guard_engines tests/unit/test_guard_race
tests_unit_test_guard_SOURCES = tests/unit/test_guard.c tests/unit/guard_box.c tests/unit/guard_box.h
tests_unit_test_guard_LDADD = $(unit_libs)
tests_unit_test_guard_engines_SOURCES = tests/unit/test_guard_engines.c tests/unit/guard_box.c \
	tests/unit/guard_box.h
tests_unit_test_guard_engines_LDADD = $(unit_libs)
tests_unit_test_guard_race_SOURCES = tests/unit/test_guard_race.c tests/unit/guard_box.c \
	tests/unit/guard_box.h
tests_unit_test_guard_race_LDADD = $(unit_libs)

# docs/mount-guard-rows.md comes from the rows; make check tells when it is out of date.
noinst_PROGRAMS += src/policy/guard_gendoc
src_policy_guard_gendoc_SOURCES = %D%/guard_gendoc.c
src_policy_guard_gendoc_LDADD = libagentrt.a $(agentrt_libs)
docs-guard: src/policy/guard_gendoc
	src/policy/guard_gendoc >$(srcdir)/docs/mount-guard-rows.md
.PHONY: docs-guard

libagentrt_a_SOURCES += %D%/builtin.c %D%/builtin.h %D%/compare.c %D%/compare.h %D%/merge.c %D%/merge.h
libagentrt_a_SOURCES += %D%/document.c %D%/document.h %D%/file.c %D%/file.h %D%/kept.c %D%/kept.h
libagentrt_a_SOURCES += %D%/load.c %D%/load.h
check_PROGRAMS += tests/unit/test_policy_builtin
tests_unit_test_policy_builtin_SOURCES = tests/unit/test_policy_builtin.c
tests_unit_test_policy_builtin_LDADD = $(unit_libs)
check_PROGRAMS += tests/unit/test_policy_load
tests_unit_test_policy_load_SOURCES = tests/unit/test_policy_load.c
tests_unit_test_policy_load_LDADD = $(unit_libs)

libagentrt_a_SOURCES += %D%/apply.c %D%/apply.h %D%/draft.c %D%/draft.h %D%/areas.c \
	%D%/requests.c %D%/restore.c %D%/restore.h %D%/rules.def %D%/rules.h %D%/rules_devices.c %D%/rules_exec.c \
	%D%/rules_limits.c %D%/rules_linux.c %D%/rules_mounts.c %D%/rules_process.c
check_PROGRAMS += tests/unit/test_policy_rules
tests_unit_test_policy_rules_SOURCES = tests/unit/test_policy_rules.c \
	tests/unit/policy_claims.c tests/unit/policy_claims.h \
	tests/unit/random_config.c tests/unit/random_config.h
tests_unit_test_policy_rules_LDADD = $(unit_libs)
