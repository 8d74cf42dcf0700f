# kubernetes.bash - a stand-in for a cluster, and what scripts ask of it
#
# Source it after lib.bash.  The stand-in's files are in $api; its rights are those of
# etc/kubernetes-role.yaml, or of the file $role, and no more.

api=$scratch/api
stand_in=$top/tests/stand-in/kubernetes

start_cluster() {
    "$stand_in/server" --directory "$api" --port 0 --role "${role:-$top/etc/kubernetes-role.yaml}" "$@" \
        >>"$scratch/api.log" 2>&1 &
    cluster=$!
    wait_for 60 test -e "$api/ready" || { sed 's/^/# /' "$scratch/api.log" >&2; return 1; }
}
stop_cluster() { kill "$cluster" 2>/dev/null; wait "$cluster" 2>/dev/null; }
# order JSON: and print the answer.
order() { "$stand_in/control" "$api" "$@"; }
# fate PATTERN WORDS: what pods of the jobs whose names fit do.  Words are members of a JSON object.
fate() { order "{\"order\": \"fate\", \"pattern\": \"$1\", $2}" >/dev/null; }
# objects KIND [FILTER]: names of what is in the cluster.
objects() { order "{\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"$1\"}" | jq -r '.objects[].metadata.name'; }

kubernetes_spool() {
    new_spool kubernetes || return 1
    set_setting kubeconfig "$api/kubeconfig"
    set_setting retry_first 500ms
    set_setting retry_longest 2s
    set_setting kill_grace 500ms
}
