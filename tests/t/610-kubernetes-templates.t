#!/usr/bin/env bash
# Templates for a cluster: what is shipped renders for a bare cluster and what does not fit one is
# refused with a sentence; a push is checked against the fields of Kubernetes.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting executor kubernetes

job() { # job LIBRARY TYPE [LINE...]: a job file
    printf 'name: cell\nlibrary: %s\ntype: %s\nscript: "echo"\n' "$1" "$2"
    shift 2
    printf '%s\n' "$@"
}
render() { job "$@" | dlspool render --id cell-0123456789abc - 2>&1; }

for library in any pytorch tensorflow sklearn; do
    manifest=$(render $library single)
    like "$manifest" '^ *"?name"?: "cell-0123456789abc-a1"$' "($library, single) has a Job of the token's name"
    like "$manifest" 'image"?: "[a-z.]+/' "with an image that a cluster can have"
done
like "$(render any distributed 'tasks: {w: {count: 2}}' 'spread: require')" \
    'requiredDuringSchedulingIgnoredDuringExecution:' "tasks that are to be spread have no node together"
like "$(render any distributed 'tasks: {w: {count: 2}}' 'spread: prefer')" 'whenUnsatisfiable"?: "ScheduleAnyway"' "or if it can be"
like "$(render any distributed 'tasks: {w: {count: 2}}' 'spread: require' 'exclusive: true' | tr -d '\n "')" \
    'requiredDuringScheduling.*matchLabels:dlspool-token:cell-.*key:dlspool/joboperator:NotInvalues:-cell-0123456789abc' \
    "and an exclusive job keeps the pods of others from its nodes"
like "$(render any single 'features: nvlink')" \
    'no node of this cluster has the feature nvlink; site.yaml names features under kubernetes.features' "a feature that the site does not name is refused"
for library in any pytorch tensorflow; do
    manifest=$(render $library distributed 'tasks: {worker: {count: 3}}')
    like "$manifest" 'completions"?: 3' "($library, distributed) has a Job with all tasks"
    like "$manifest" 'clusterIP"?: "None"' "and a headless Service"
done
manifest=$(render tensorflow ps 'tasks: {ps: {count: 2}, worker: {count: 2}}')
for role in ps worker; do
    like "$manifest" "\"cell-0123456789abc-a1-$role\"" "(tensorflow, ps) has a Job for the role $role"
done
like "$(render pytorch single 'dataset: /srv/data')" \
    'the dataset /srv/data lies on no storage that pods can reach; site.yaml' "a path that pods cannot reach is refused"
like "$(printf '%s\n' '#!/bin/bash' '#SBATCH --chdir=/home/ann/project' true | dlspool render - 2>&1)" \
    'the directory /home/ann/project, in which the script is to start, lies on no storage .*; submit it in a directory that lies there' "a script is told of its directory in its own words"
like "$(render any single 'queue: night')" 'there is no queue night on this cluster; site.yaml' "so is an unknown queue"
like "$(render any single 'debug: 30m')" 'dlspool/debug"?: "1800"' "debug becomes an annotation"

# What is pushed is checked by the fields of Kubernetes.
without_templates local slurm
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
cd "$scratch/clone" || exit 1
refused() { # refused DESCRIPTION PATTERN
    local output
    git commit -qam "$1"
    output=$(git push 2>&1)
    is "$(($? != 0))" 1 "$1 is refused"
    like "$output" "$2" "$1: the terminal shows the field"
    git reset -q --hard origin/main
}
sed -i 's/restartPolicy: Never/restartPolicy: Never\n    hostNetwrk: true/' common/kubernetes/pod.yaml
refused "an unknown field" 'spec.template.spec.hostNetwrk: unknown field; did you mean hostNetwork\?'
sed -i 's/restartPolicy: Never/restartPolicy: Never\n    quorumPolicy: {least: 2}/' common/kubernetes/pod.yaml
git commit -qam "a newer server's field"
like "$(git push 2>&1; echo "status $?")" 'warning: the executor may refuse the manifest: .*quorumPolicy: unknown field; Kubernetes 1\.36 has none' \
    "a field that only a newer server may know is a warning"
is "$(git rev-parse HEAD)" "$(git -C "$spool/templates.git" rev-parse HEAD)" "and the push is taken"
git revert --no-edit HEAD >/dev/null && git push -q 2>/dev/null
sed -i 's/restartPolicy: Never/restartPolicy: Always/' common/kubernetes/pod.yaml
refused "another restartPolicy" 'restartPolicy: expected Never'
sed -i 's/completions: .*/completions: "1"/' common/kubernetes/role.yaml
refused "a string for a number" 'spec.completions: found "1", expected a whole number'
sed -i 's/image: .*/image: x\n            securityContext: {privileged: true}/' common/kubernetes/pod.yaml
refused "a privileged container" 'securityContext.privileged: found true, expected false'

sed -i 's|^  storage: \[\]|  storage: [{prefix: /srv, nfs: {server: nas, path: /export}}]|; s|^  queues: {}|  queues: {night: {kueue: night}}|; s|^queues: \[\]|queues: [night]|' site.yaml
git commit -qam "storage and a queue"
ok "a site's storage and queues are pushed" git push -q
manifest=$(render pytorch single 'dataset: /srv/data' 'queue: night')
like "$manifest" 'path"?: "/export/data"' "and paths become volumes"
like "$manifest" 'kueue.x-k8s.io/queue-name"?: "night"' "and queues labels"
like "$(render any single 'queue: day')" "queue \"day\" is none of this site's: site.yaml of templates.git lists night" \
    "a queue that the site does not list is refused"

# What is added at submission is shown to who may read the credentials; nobody is asked.
cat >"$scratch/kubeconfig" <<'CONFIG'
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: of-nobody}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: lab}}]
CONFIG
chmod 600 "$scratch/kubeconfig"
like "$(render any single)" '^dlspool render: a cluster is sent more than that, such as security contexts; --sent prints all' \
    "render says that a cluster is sent more"
sent=$(job any single | KUBECONFIG=$scratch/kubeconfig dlspool render --sent -)
for line in 'automountServiceAccountToken: false' 'allowPrivilegeEscalation: false' "runAsUser: $(id -u)" 'type: "RuntimeDefault"' 'namespace: "lab"'; do
    like "$sent" "^ *$line\$" "with --sent it shows $line"
done
unlike "$sent" of-nobody "and no credential"

# The table of fields is renewed from what a server says of itself.
cat >"$scratch/openapi.json" <<'JSON'
{"info": {"version": "v1.37.2"}, "definitions": {
 "io.k8s.api.core.v1.Pod": {"required": ["spec"], "properties": {"spec": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"}}},
 "io.k8s.api.core.v1.PodSpec": {"properties": {"size": {"$ref": "#/definitions/io.k8s.Quantity"}, "words": {"type": "array", "items": {"enum": ["b", "a"]}},
  "map": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}}}},
 "io.k8s.api.core.v1.Unused": {"properties": {}}, "io.k8s.Quantity": {"type": "string"}}}
JSON
made=$("$top"/tools/kubernetes-schema "$scratch/openapi.json" "$top"/executors/kubernetes/schema.txt)
is "$(grep -v -e '^#' -e '^ ' -e ^Volcano <<<"$made")" "Pod: spec=PodSpec!
PodSpec: map={integer32} size=quantity words=[a|b]" "a table of fields is made from what a server says of itself"
like "$made" 'server of version 1\.37 knows' "and says of which version it is"
like "$made" '^VolcanoPodGroup: ' "and Volcano's types stay"

done_testing
