# Unit tests: one program per module, TAP or cmocka output, listed by the module's own local.mk as
#   check_PROGRAMS += tests/unit/test_NAME
#   tests_unit_test_NAME_SOURCES = tests/unit/test_NAME.c
#   tests_unit_test_NAME_LDADD = $(unit_libs)
unit_libs = libagentrt.a $(agentrt_libs) -lcmocka
