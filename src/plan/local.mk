libagentrt_a_SOURCES += %D%/plan.h %D%/build.c %D%/build.h %D%/process.c %D%/filesystem.c \
	%D%/steps.c %D%/steps.h %D%/steps.def %D%/explain.c %D%/explain.h
