#!/usr/bin/env bash
# What an OpenPAI job's tasks are told on a cluster is what they are told here, but for the names of
# hosts: each task's container is started as a node would start it, with variables put in and its
# number given, and asked for its environment.
. "$(dirname "$0")/lib.bash"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3 has no yaml"
new_spool null || exit 1
cat >"$scratch/job.json" <<'JOB'
{"jobName": "seen", "image": "team/x:1", "dataDir": "hdfs://h/$(PAI_USER_NAME)", "gpuType": "K80",
 "jobEnvs": {"MINE": "$(PAI_JOB_NAME) $$ ${x}", "PAI_USERNAME": "me", "PAI_TASK_INDEX": "mine"},
 "taskRoles": [
  {"name": "ps_server", "taskNumber": 3, "cpuNumber": 2, "storageGB": 5, "command": "env -0 # $(PAI_JOB_NAME) $$"},
  {"name": "a.b", "taskNumber": 2, "gpuNumber": 4, "minSucceededTaskCount": 1, "command": "env -0",
   "portList": [{"label": "web.x", "portNumber": 2}, {"label": "fixed", "beginAt": 8080}]},
  {"name": "c~d", "command": "env -0"}]}
JOB
cat >"$scratch/alone.json" <<'JOB'
{"jobName": "alone", "image": "team/x:1", "taskRoles": [{"name": "w", "command": "env -0"}]}
JOB
for name in job alone; do
    dlspool render --id "$name-0123456789abc" "$scratch/$name.json" >"$scratch/$name-local.yaml" 2>/dev/null
done
set_setting executor kubernetes
for name in job alone; do
    ok "$name renders for a cluster" dlspool render --id "$name-0123456789abc" "$scratch/$name.json"
    dlspool render --id "$name-0123456789abc" "$scratch/$name.json" >"$scratch/$name-kubernetes.yaml" 2>/dev/null
done
cat >"$scratch/compare.py" <<'PYTHON'
import os, re, subprocess, sys, yaml

local = yaml.safe_load(open(sys.argv[1]))
cluster = yaml.safe_load(open(sys.argv[2]))
wanted_hosts = set()


def expand(text, known):
    """What a kubelet makes of $(NAME) and $$."""
    return re.sub(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)",
                  lambda m: "$" if m[0] == "$$" else known.get(m[1], m[0]), text)


def start(container, index):
    known = {"PATH": os.environ["PATH"]}
    for variable in container["env"]:
        if variable["name"] == "DLSPOOL_INDEX":
            known["DLSPOOL_INDEX"] = str(index)
        elif variable["name"] == "DLSPOOL_ADDRESS":
            known["DLSPOOL_ADDRESS"] = "10.0.0.1"
        else:
            known[variable["name"]] = expand(variable.get("value", ""), known)
    known["DLSPOOL_WAIT_FOR"] = ""
    words = [expand(word, known) for word in container["command"] + container.get("args", [])]
    out = subprocess.run(words, env=known, stdout=subprocess.PIPE, check=True).stdout.decode()
    return dict(pair.split("=", 1) for pair in out.split("\0") if pair)


def told(environment):
    return {k: v for k, v in environment.items()
            if re.match(r"PAI_|MINE$|CONTAINER_|TASK_INDEX|APP_ID|FRAMEWORK|HADOOP|DLSPOOL_PORTS$", k)
            and k not in ("PAI_WORK_DIR",) and "~" not in k}


def ports(text):
    """Hosts differ, so an address is its port."""
    return re.sub(r"[^,]*:(\d*)", r"\1", text)


bad = 0
jobs = {j["metadata"]["labels"]["dlspool/role"]: j for j in cluster["items"] if j["kind"] == "Job"}
for task in local["tasks"]:
    job = jobs[task["role"]]
    container = job["spec"]["template"]["spec"]["containers"][0]
    here = told({**local["env"], **task["env"]})
    there = told(start(container, task["index"]))
    alone = len(local["tasks"]) == 1
    many = len(jobs) > 1
    for name in sorted(set(here) | set(there)):
        a, b = here.get(name), there.get(name)
        if name.endswith("_HOST_LIST") and a and b:
            a, b = ports(a), ports(b)
        elif re.match(r"PAI_HOST_IP_|PAI_CONTAINER_HOST_IP$|PAI_CURRENT_CONTAINER_IP$|CONTAINER_IP$", name):
            own = "10.0.0.1" if alone else None
            a = own or re.sub(r".*", "", a or "") or b
            if own is None and not re.fullmatch(r"[-a-z0-9]+-\d+\.[-a-z0-9]+", b or ""):
                a = "a name"
            if b is not None and name.startswith("PAI_CONTAINER_HOST_IP"):
                wanted_hosts.add(b)
        if a != b:
            bad += 1
            print(f"{task['role']} {task['index']}: {name} is {a!r} here and {b!r} there")
    if not alone:
        own = there["PAI_CONTAINER_HOST_IP"]
        if there[f"PAI_HOST_IP_{task['env']['PAI_TASK_ROLE_NAME']}_{task['index']}" if "~" not in
                 task['env']['PAI_TASK_ROLE_NAME'] else "PAI_CONTAINER_HOST_IP"] != own:
            bad += 1
            print("a task has two names")
print(f"{len(local['tasks'])} tasks, {len(wanted_hosts)} hosts")
sys.exit(bad != 0)
PYTHON
cd "$scratch" || exit 1
for name in job alone; do
    output=$(python3 compare.py "$name-local.yaml" "$name-kubernetes.yaml" 2>&1)
    is "$?" 0 "the tasks of $name are told the same"
    printf '%s\n' "$output" | sed 's/^/# /'
done
like "$output" '^1 tasks, 1 hosts' "all tasks were looked at"
like "$(grep -A1 'MINE"' job-kubernetes.yaml)" 'value: "\$\$\(PAI_JOB_NAME\) \$\$\$\$ ' \
    "what a user wrote is not taken for Kubernetes' own"
is "$(grep -c 'ephemeral-storage: "5368709120"' job-kubernetes.yaml)" 2 "storageGB is a request and a limit"
unlike "$(cat job-kubernetes.yaml)" 'name: "PAI_[^"]*~' "no variable has a name that Kubernetes refuses"
done_testing
