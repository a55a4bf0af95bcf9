libagentrt_a_SOURCES += %D%/bus.c %D%/bus.h %D%/cgroup.c %D%/cgroup.h %D%/create.c %D%/delegate.c \
	%D%/device_program.c %D%/device_rules.c %D%/devices.c %D%/devices.h %D%/discover.c %D%/files.c %D%/freeze.c \
	%D%/internal.h %D%/kill.c %D%/limit_check.c %D%/limit_rows.c %D%/limits.c %D%/limits.h \
	%D%/limits_v1.c %D%/limits_v2.c %D%/outer.c %D%/remove.c %D%/stats.c %D%/stats.h %D%/sub.c %D%/unit.c %D%/unit.h \
	%D%/unit_limits.c %D%/update.c %D%/v1.c %D%/v1.h %D%/v2.c %D%/walk.c

check_PROGRAMS += tests/unit/test_cgroup_limits tests/unit/test_cgroup_devices
tests_unit_test_cgroup_limits_SOURCES = tests/unit/test_cgroup_limits.c
tests_unit_test_cgroup_limits_LDADD = $(unit_libs)
tests_unit_test_cgroup_devices_SOURCES = tests/unit/test_cgroup_devices.c
tests_unit_test_cgroup_devices_LDADD = $(unit_libs)
check_PROGRAMS += tests/unit/test_cgroup_real
tests_unit_test_cgroup_real_SOURCES = tests/unit/test_cgroup_real.c
tests_unit_test_cgroup_real_LDADD = $(unit_libs)
check_PROGRAMS += tests/unit/test_cgroup_paths
tests_unit_test_cgroup_paths_SOURCES = tests/unit/test_cgroup_paths.c
tests_unit_test_cgroup_paths_LDADD = $(unit_libs)
check_PROGRAMS += tests/unit/test_unit
tests_unit_test_unit_SOURCES = tests/unit/test_unit.c
tests_unit_test_unit_LDADD = $(unit_libs)
