#!/usr/bin/env bats
# Policy files through the real command: which one is taken, which is refused, what is kept.

load ../lib/helpers

EXAMPLES=$BATS_TEST_DIRNAME/../../contrib/policies

prepare ()
{
    POLICIES=$TMP/policies
    mkdir -m 755 "$POLICIES"
}

# policy NAME JSON: a file that can be trusted.
policy ()
{
    printf '%s\n' "$2" >"$POLICIES/$1"
    chmod 644 "$POLICIES/$1"
}

@test "the examples in contrib/policies are policies, and each differs from strict" {
    local f n=0
    cp "$EXAMPLES"/*.json "$POLICIES"
    chmod 644 "$POLICIES"/*
    for f in "$POLICIES"/*.json; do
        rt policy check "$f" >"$TMP/said"
        match "$(head -n 1 "$TMP/said")" "policy $(basename "$f" .json), from $f"
        grep -qE '^  (looser|tighter) +/' "$TMP/said" || fail "$f is strict"
        n=$((n + 1))
    done
    [ $n -ge 5 ] || fail "only $n examples"
}

@test "policy show: what would be used, merged, and where it comes from" {
    rt policy show >"$TMP/shown"
    eq "$(jq -r .source "$TMP/shown")" /etc/agentrt/policy.json
    eq "$(jq -r '.policy | .name, .network' "$TMP/shown")" $'cage\nengine'
    eq "$(rt policy show strict | jq -r '.source, .policy.network')" $'built in\nnone'
    eq "$(rt --policy system policy show | jq -r .policy.identity)" userns
    policy p.json '{"extend": "./q.json", "sysctl": "any"}'
    policy q.json '{"limits": {"pids": 9}, "allow": {"memory": 5}}'
    rt policy show "$POLICIES/p.json" >"$TMP/shown"
    eq "$(jq -r .source "$TMP/shown")" "$POLICIES/p.json"
    eq "$(jq -c '.policy | [.limits.pids, .limits.nofile, .sysctl, .allow]' "$TMP/shown")" \
        '[9,1024,"any",{}]'
    eq "$(jq -r .digest "$TMP/shown")" "sha256:$(jq -cj .policy "$TMP/shown" | sha256sum | cut -c 1-64)"
}

@test "policy check: says what is looser and what is tighter" {
    policy p.json '{"limits": {"memory": -1, "pids": 9}, "network": "engine"}'
    eq "$(rt policy check "$POLICIES/p.json" | tail -n +3 | tr -s ' ')" \
        " looser /network \"none\" -> \"engine\"
 looser /limits/memory 1073741824 -> -1
 tighter /limits/pids 128 -> 9"
    policy p.json '{"limit": {"memory": 1}}'
    try rt policy check "$POLICIES/p.json"
    refused "/limit: there is no such key"
    try rt policy check "$POLICIES/none.json"
    refused none.json
}

@test "a policy that others can write makes everything refuse" {
    local command
    policy p.json '{}'
    chmod o+w "$POLICIES"
    for command in "explain -b $BUNDLE" "run -b $BUNDLE $ID" "create -b $BUNDLE $ID" "policy show"; do
        # shellcheck disable=SC2086
        try rt --policy "$POLICIES/p.json" $command
        refused "the folder '$POLICIES' can be written by others .mode 0757."
        match "$output" "chmod go-w '$POLICIES'"
    done
    chmod o-w "$POLICIES"
    rt --policy "$POLICIES/p.json" policy show >"$TMP/shown"
    chmod o+w /etc/agentrt/policy.json
    try rt run -b "$BUNDLE" "$ID"
    chmod o-w /etc/agentrt/policy.json
    refused "/etc/agentrt/policy.json' can be written by others"
    rt run -b "$BUNDLE" "$ID"
}

@test "exec goes by the container's policy when the file is gone, changed or looser" {
    policy p.json '{"extend": "oci", "capabilities": [], "exec": "container"}'
    policy loose.json '{"extend": "oci"}'
    args sleep 1000
    rt --policy "$POLICIES/p.json" run -d -b "$BUNDLE" "$ID"
    rm "$POLICIES/p.json"
    eq "$(rt exec --cap CAP_SYS_ADMIN "$ID" sh -c 'grep CapBnd /proc/self/status')" \
        $'CapBnd:\t0000000000000000'
    mv "$POLICIES/loose.json" "$POLICIES/p.json"
    eq "$(rt --policy "$POLICIES/p.json" exec --cap CAP_SYS_ADMIN "$ID" \
        sh -c 'grep CapBnd /proc/self/status')" $'CapBnd:\t0000000000000000'
    rt delete -f "$ID"
}

@test "exec under a policy that takes what is asked for" {
    args sleep 1000
    rt run -d -b "$BUNDLE" "$ID"
    no_match "$(rt exec --cap CAP_SYS_ADMIN "$ID" sh -c 'grep CapBnd /proc/self/status')" \
        0000000000000000
    rt delete -f "$ID"
}

@test "a kept policy that was changed, or is gone, keeps exec from running" {
    local kept=$ROOT/$ID/policy.json
    args sleep 1000
    rt run -d -b "$BUNDLE" "$ID"
    cp "$kept" "$TMP/kept"
    jq -c '.limits.pids = 5' "$TMP/kept" >"$kept"
    try rt exec "$ID" true
    rc 255
    match "$output" "is not what it was made under"
    rm "$kept"
    try rt exec "$ID" true
    rc 255
    match "$output" "policy.json"
    cp "$TMP/kept" "$kept"
    rt exec "$ID" true
    rt delete -f "$ID"
}

@test "state: the policy and its digest" {
    policy p.json '{"extend": "oci", "name": "mine"}'
    args sleep 1000
    rt --policy "$POLICIES/p.json" run -d -b "$BUNDLE" "$ID"
    eq "$(rt state "$ID" | jq -r '.annotations["io.agentrt.policy"]')" mine
    eq "$(rt state "$ID" | jq -r '.annotations["io.agentrt.policy.digest"]')" \
        "$(rt policy show "$POLICIES/p.json" | jq -r .digest)"
    rt delete -f "$ID"
}

@test "exec under strict gets the filter, no new privileges and no capability" {
    args sleep 1000
    rt --policy strict run -d -b "$BUNDLE" "$ID"
    eq "$(rt exec --cap CAP_SYS_ADMIN "$ID" \
        sh -c 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | cut -f 2 | sort -u')" \
        $'0000000000000000\n1\n2'
    rt delete -f "$ID"
}

# asking KEY VALUE TEXT: runs TEXT under p.json in a container whose config asks for KEY.
asking ()
{
    script "$3"
    edit --arg k "io.agentrt.$1" --arg v "$2" \
        '.annotations = {($k): $v} | del (.process.rlimits) | .root.readonly = false'
    try rt --policy "$POLICIES/p.json" run -b "$BUNDLE" "$ID"
}

@test "what may be asked for: up to the policy's limit, and not beyond" {
    policy p.json '{"allow": {"nofile": 4096, "writableRoot": true, "capabilities": ["CAP_KILL"]}}'
    asking nofile 2048 'ulimit -n'
    rc 0
    eq "$output" 2048
    asking writableRoot true 'touch /x && echo made'
    eq "$output" made
    asking capabilities CAP_KILL 'grep CapBnd /proc/self/status'
    eq "$output" $'CapBnd:\t0000000000000020'
    asking nofile 8192 true
    refused "refused by rule 'allow.nofile' of policy 'p' .*the policy allows up to 4096"
    match "$output" "$POLICIES/p.json"
    asking capabilities CAP_KILL,CAP_SYS_ADMIN true
    refused "the policy does not allow 'CAP_SYS_ADMIN'"
}

@test "what a policy does not mention, or allows as null or as nothing, cannot be asked for" {
    local allow
    for allow in '{}' '{"allow": null}' '{"allow": {}}' '{"allow": {"memory": null, "nofile": 0}}' \
        '{"allow": {"capabilities": [], "writableRoot": false, "network": "none"}}' \
        '{"extend": "./q.json"}'; do
        policy p.json "$allow"
        policy q.json '{"allow": {"memory": -1, "nofile": -1, "writableRoot": true,
            "network": "engine", "capabilities": ["CAP_KILL"]}}'
        asking memory 4g true
        refused "rule 'allow.memory'"
        asking memory 0 true
        refused "rule 'allow.memory'"
        asking nofile 2048 true
        refused "rule 'allow.nofile'"
        asking writableRoot true true
        refused "rule 'allow.writableRoot'"
        asking network engine true
        refused "rule 'allow.network'"
        asking capabilities CAP_KILL true
        refused "rule 'allow.capabilities'"
        asking everything true true
        refused "there is no such request"
    done
}
