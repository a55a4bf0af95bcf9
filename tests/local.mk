# Unit tests: one program per module, printing TAP (tests/unit/tap.h), listed by the module's own
# local.mk as
#   check_PROGRAMS += tests/unit/test_NAME
#   tests_unit_test_NAME_SOURCES = tests/unit/test_NAME.c
#   tests_unit_test_NAME_LDADD = $(unit_libs)
unit_libs = libagentrt.a $(agentrt_libs)
EXTRA_DIST += tests/unit/tap.h
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = AGENTRT='$(abs_builddir)/agentrt'; TOP='$(abs_top_srcdir)'; export AGENTRT TOP;
EXTRA_PROGRAMS =
check_DATA =
include %D%/lib/local.mk
include %D%/integration/local.mk
include %D%/fault/local.mk
include %D%/engines/local.mk
include %D%/workloads/local.mk
include %D%/lint/local.mk
include %D%/fuzz/local.mk
include %D%/golden/local.mk
