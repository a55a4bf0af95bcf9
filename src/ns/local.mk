libagentrt_a_SOURCES += %D%/ns.h
