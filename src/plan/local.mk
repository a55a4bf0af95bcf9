libagentrt_a_SOURCES += %D%/plan.h %D%/annotations.c %D%/build.c %D%/build.h %D%/process.c %D%/filesystem.c \
	%D%/steps.c %D%/steps.h %D%/steps.def %D%/explain.c %D%/explain.h %D%/unit.c

check_PROGRAMS += tests/unit/test_plan
tests_unit_test_plan_SOURCES = tests/unit/test_plan.c
tests_unit_test_plan_LDADD = $(unit_libs)
TESTS += tests/golden/explain.sh
EXTRA_DIST += tests/golden/explain.sh
