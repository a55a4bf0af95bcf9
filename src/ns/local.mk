libagentrt_a_SOURCES += %D%/helper.c %D%/helper.h %D%/idmap.c %D%/join.c %D%/join.h %D%/network.c \
	%D%/network.h %D%/netdev.c %D%/netdev.h %D%/rtnl.c %D%/rtnl.h %D%/ns.c 	%D%/ns.h %D%/setup.c %D%/sysctl.c

check_PROGRAMS += tests/unit/test_ns
tests_unit_test_ns_SOURCES = tests/unit/test_ns.c tests/unit/act.h tests/unit/child.h
tests_unit_test_ns_LDADD = $(unit_libs)

check_PROGRAMS += tests/unit/test_network
tests_unit_test_network_SOURCES = tests/unit/test_network.c tests/unit/act.h tests/unit/child.h
tests_unit_test_network_LDADD = $(unit_libs)
