libagentrt_a_SOURCES += %D%/state.c %D%/state.h %D%/root.c %D%/process.c %D%/oci.c \
	%D%/gate.c %D%/gate.h

check_PROGRAMS += tests/unit/test_state tests/unit/test_gate
tests_unit_test_state_SOURCES = tests/unit/test_state.c
tests_unit_test_state_LDADD = $(unit_libs)
tests_unit_test_gate_SOURCES = tests/unit/test_gate.c
tests_unit_test_gate_LDADD = $(unit_libs)
