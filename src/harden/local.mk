libagentrt_a_SOURCES +=
