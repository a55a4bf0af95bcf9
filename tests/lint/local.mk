# Lint: what reviews would otherwise have to look for. Each script prints TAP.
lint_tests = %D%/layers.sh %D%/budgets.sh %D%/format.sh %D%/places.sh %D%/words.sh %D%/shell.sh %D%/man.sh
TESTS += $(lint_tests)
EXTRA_DIST += %D%/lib.sh $(lint_tests)
