# Manual pages and generated references.
dist_man_MANS += \
	%D%/man/agentrt.1 \
	%D%/man/agentrt-checkpoint.1 \
	%D%/man/agentrt-create.1 \
	%D%/man/agentrt-delete.1 \
	%D%/man/agentrt-events.1 \
	%D%/man/agentrt-exec.1 \
	%D%/man/agentrt-explain.1 \
	%D%/man/agentrt-features.1 \
	%D%/man/agentrt-help.1 \
	%D%/man/agentrt-kill.1 \
	%D%/man/agentrt-list.1 \
	%D%/man/agentrt-mounts.1 \
	%D%/man/agentrt-pause.1 \
	%D%/man/agentrt-policy.1 \
	%D%/man/agentrt-policy.json.5 \
	%D%/man/agentrt-ps.1 \
	%D%/man/agentrt-resume.1 \
	%D%/man/agentrt-restore.1 \
	%D%/man/agentrt-run.1 \
	%D%/man/agentrt-spec.1 \
	%D%/man/agentrt-start.1 \
	%D%/man/agentrt-state.1 \
	%D%/man/agentrt-update.1
EXTRA_DIST += contrib/policies
