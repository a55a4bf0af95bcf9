libagentrt_a_SOURCES += %D%/mnt.h %D%/prepare.c %D%/sources.h %D%/root.c %D%/mounts.c \
	%D%/devices.c %D%/mask.c %D%/cgroups.c %D%/cgroups.h %D%/copyup.c %D%/copyup.h \
	%D%/live.c %D%/idmap.c %D%/idmap.h %D%/newfs.c %D%/newfs.h %D%/target.c %D%/target.h \
	%D%/tree.c %D%/tree.h %D%/unpivoted.c %D%/unpivoted.h

check_PROGRAMS += tests/unit/test_mnt
tests_unit_test_mnt_SOURCES = tests/unit/test_mnt.c tests/unit/mnt_box.c tests/unit/mnt_box.h
tests_unit_test_mnt_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/test_idmap
tests_unit_test_idmap_SOURCES = tests/unit/test_idmap.c
tests_unit_test_idmap_LDADD = $(unit_libs)
