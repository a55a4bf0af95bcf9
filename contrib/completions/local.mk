# Completions for shells: a script with the table of all options in the place of @TABLE@.
completion_scripts = %D%/agentrt.bash %D%/_agentrt %D%/agentrt.fish
completion_templates = %D%/agentrt.bash.in %D%/_agentrt.in %D%/agentrt.fish.in
EXTRA_DIST += $(completion_templates)
CLEANFILES += $(completion_scripts) %D%/table

noinst_PROGRAMS += src/cmd/completion_gendata
src_cmd_completion_gendata_SOURCES = src/cmd/completion_gendata.c
src_cmd_completion_gendata_LDADD = libagentrt.a $(agentrt_libs)

%D%/table: src/cmd/completion_gendata
	$(MKDIR_P) %D% && src/cmd/completion_gendata >$@.new && mv $@.new $@
%D%/agentrt.bash: %D%/agentrt.bash.in %D%/table
	sed -e '/^@TABLE@$$/{r %D%/table' -e 'd;}' $(srcdir)/$@.in >$@
%D%/_agentrt: %D%/_agentrt.in %D%/table
	sed -e '/^@TABLE@$$/{r %D%/table' -e 'd;}' $(srcdir)/$@.in >$@
# A string of fish, in which a quote has a backslash before it.
%D%/agentrt.fish: %D%/agentrt.fish.in %D%/table
	sed "s/'/\\\\'/g" %D%/table >$@.table
	sed -e "/^@TABLE@\$$/{r $@.table" -e 'd;}' $(srcdir)/$@.in >$@
	rm -f $@.table

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_zshcompletion_DATA = %D%/_agentrt
nodist_fishcompletion_DATA = %D%/agentrt.fish
# bash looks for the command's own name.
all-local: $(completion_scripts)
install-data-local: %D%/agentrt.bash
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) %D%/agentrt.bash '$(DESTDIR)$(bashcompletiondir)/agentrt'
uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/agentrt'
