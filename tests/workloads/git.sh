#!/bin/sh
# git: commits, branches, merges, worktrees, clones, packs, bundles.
set -eu
git config --global user.name agent && git config --global user.email agent@localhost
git config --global init.defaultBranch main
git init -q repo && cd repo
for i in 1 2 3 4 5; do
    seq "$i" 100 >"f$i" && git add . && git commit -qm "commit $i"
done
git checkout -qb side HEAD~2 && echo side >side && git add side && git commit -qm side
git rebase -q main && git checkout -q main && git merge -q --no-ff -m merge side
[ "$(git log --oneline | wc -l)" -eq 7 ]
echo change >>f1 && git stash -q && git diff --quiet && git stash pop -q && ! git diff --quiet
git commit -qam change && git tag -am tag v1 && git blame f1 >/dev/null
git grep -qP '^1\d+$' && git log -G change --oneline | grep -q change
git worktree add -q ../wt side && (cd ../wt && git status --short --branch | grep -q side)
git clone -q . ../clone && git clone -q --depth 1 "file://$PWD" ../shallow
git bundle create -q ../b main && git bundle verify -q ../b 2>/dev/null
git gc -q --aggressive && git fsck --strict 2>/dev/null && git repack -qad && git count-objects -v
printf '#!/bin/sh\necho hook >../hooked\n' >.git/hooks/post-commit && chmod +x .git/hooks/post-commit
git commit -q --allow-empty -m hooked && grep -q hook ../hooked
cd ../clone && git pull -q && git push -q origin HEAD:refs/heads/pushed && git -C ../repo rev-parse -q --verify pushed
echo passed
