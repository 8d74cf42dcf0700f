#!/usr/bin/env bash
# Alerts and the board of Grafana: promtool takes the rules and their tests, and a real Prometheus that has read a spool's
# metrics evaluates each rule and each panel's query.  That Grafana draws the board is not tried here: Debian has none.
. "$(dirname "$0")/lib.bash"
rules=$top/etc/prometheus/dlspool.rules.yaml
board=$top/etc/grafana/dlspool.json

# What they ask for is there, with or without Prometheus.
documented=$(sed -n '/^### Prometheus/,/^## /p' "$top/docs/administrator.md" | grep '^| `' | cut -d'|' -f2 | grep -o '[a-z_]*' | sort -u)
asked=$(cat "$rules" "$board" | grep -oE 'dlspool_[a-z_]+' | sed 's/^dlspool_//; s/_bucket$//; s/seconds_sum$/seconds/; s/seconds_count$/seconds/' | sort -u)
is "$(comm -13 <(echo "$documented") <(echo "$asked"))" "" "alerts and board ask for metrics of docs/administrator.md only"
is "$(sed -nE 's/^    \{"([a-z_]+)", SERIES_.*/\1/p' "$top/stages/metrics/metrics.c" | LC_ALL=C sort)" "$documented" "which has those of the code and no others"
ok "the board is JSON, each panel has a query and another place" jq -e '(.panels | length > 10) and ([.panels[] | select((.targets | length) == 0)] == [])
    and ([.panels[].gridPos | [.x, .y]] | length == (unique | length)) and ([.panels[].id] | length == (unique | length))' "$board"

command -v promtool >/dev/null && command -v prometheus >/dev/null || { pass "# SKIP prometheus is not installed"; done_testing; }
output=$(promtool check rules "$rules" 2>&1)
is $? 0 "promtool takes the rules"
like "$output" 'SUCCESS: [0-9]+ rules found' "all of them"
output=$(cd "$top" && promtool test rules tests/prometheus/dlspool.test.yaml 2>&1)
is $? 0 "and their tests" || echo "$output"
is "$(grep -c 'alertname:' <<<"$(sed -n 's/.*\(alertname: [A-Za-z]*\).*/\1/p' "$top/tests/prometheus/dlspool.test.yaml" | sort -u)")" "$(grep -c -- '- alert:' "$rules")" "each alert has one"

# A spool whose metrics are read twice.
new_spool null || exit 1
mkdir "$scratch/web"
sed -i "s|^  file: .*|  file: $scratch/web/dlspool.prom|; s|^  interval: .*|  interval: 1s|; s|^  users: false|  users: true|" "$spool/dlspool.yaml"
start_daemon
# Another one has nodes: the executor null has none.
slurm=$scratch/slurm
dlspool -s "$slurm" init -e slurm >/dev/null
sed -i "s|^  address: unix:/run/slurmrestd.*|  address: unix:$scratch/rest|" "$slurm/dlspool.yaml"
python3 -B "$top/tests/stand-in/slurmrestd" --socket "$scratch/rest" --nodes '[{"name": "n1", "state": "idle", "cpus": 8, "gres": "gpu:a100:4",
    "gres_used": "gpu:a100:1"}, {"name": "n2", "state": "idle", "state_flags": ["DRAIN"], "cpus": 4, "gres": "gpu:a100:2,gpu:1"}]' &
rest=$!
at_exit 'kill $rest 2>/dev/null'
must "a stand-in for Slurm has nodes" wait_for 10 test -S "$scratch/rest"
dlspool -s "$slurm" metrics >"$scratch/metrics"
is "$(grep -E '^dlspool_(node|nodes|unschedulable|node_used)[{].*(state=|resource="gpus")' "$scratch/metrics" | sed 's/^dlspool_//' | LC_ALL=C sort)" \
    'node_used{node="n1",resource="gpus",gpu_type="a100"} 1
node_used{node="n2",resource="gpus",gpu_type=""} 0
node_used{node="n2",resource="gpus",gpu_type="a100"} 0
nodes{state="down"} 0
nodes{state="drained"} 1
nodes{state="ready"} 1
nodes{state="unknown"} 0
node{node="n1",state="ready"} 1
node{node="n2",state="drained"} 1
unschedulable{resource="gpus",gpu_type=""} 1
unschedulable{resource="gpus",gpu_type="a100"} 2' "nodes are told, and what those have that take no jobs"
grep -E 'dlspool_(node|unschedulable)' "$scratch/metrics" | grep -v '"n2"' >"$scratch/web/nodes.prom"
kill "$rest"; wait "$rest" 2>/dev/null
must "a spool writes metrics" wait_for 10 test -s "$scratch/web/dlspool.prom"
/usr/bin/python3 -u - "$scratch/web" >"$scratch/web.log" 2>&1 <<'PYTHON' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1])
server.serve_forever()
PYTHON
web=$!
at_exit 'kill $web $prometheus 2>/dev/null'
prometheus=
wait_for 10 test -s "$scratch/web.log"
cat >"$scratch/prometheus.yml" <<YAML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$rules"]
scrape_configs:
- {job_name: dlspool, metrics_path: /dlspool.prom, static_configs: [{targets: ["127.0.0.1:$(head -n 1 "$scratch/web.log")"]}]}
- {job_name: nodes, metrics_path: /nodes.prom, static_configs: [{targets: ["127.0.0.1:$(head -n 1 "$scratch/web.log")"]}]}
YAML
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" --web.listen-address="127.0.0.1:$port" \
    >"$scratch/prometheus.log" 2>&1 &
prometheus=$!
ask() { curl -sG "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1"; }
found() { [ "$(ask "$1" | jq '.data.result | length')" -gt 0 ]; }
must "Prometheus reads them" wait_for 20 found 'dlspool_lease_held == 1'
printf '#!/bin/sh\n#DL name=one\n#DL library=any\n#DL type=single\n#DL tasks.main={cpus: 1, memory: 64Mi}\ntrue\n' | drop one.sh
printf 'library: any\ntype: nosuch\n' | drop bad.yaml
must "what happens is seen" wait_for 20 found 'increase(dlspool_jobs_accepted_total[1m]) > 0 and on (instance) count_over_time(dlspool_run_seconds_count[1m]) > 2'

# A query that finds nothing is of what this spool does not have: the executor null makes no requests.
unknown=
nothing=
while IFS= read -r query; do
    answer=$(ask "${query//\$instance/.*}")
    [ "$(jq -r .status <<<"$answer")" = success ] || unknown+="$query: $(jq -r .error <<<"$answer")"$'\n'
    [[ $query == *executor_request* || $query == *executor_errors* ]] || [ "$(jq '.data.result | length' <<<"$answer")" -gt 0 ] || nothing+="$query"$'\n'
done < <(jq -r '.panels[].targets[].expr' "$board")
is "$unknown" "" "it evaluates each query of the board"
is "$nothing" "" "and finds something for each"
is "$(curl -s "http://127.0.0.1:$port/api/v1/rules" | jq -c '[.data.groups[].rules[] | select(.health != "ok") | .name]')" "[]" "it evaluates each rule"
is "$(curl -s "http://127.0.0.1:$port/api/v1/alerts" | jq -c '[.data.alerts[].labels.alertname] | unique - ["DlspoolDiskNearlyFull"]')" "[]" "and none says that anything is wrong"
stop_daemon
ok "a daemon that is gone is seen in the age of what it wrote" wait_for 10 found 'time() - dlspool_metrics_timestamp_seconds > 2'
dlspool metrics --textfile "$scratch/web/dlspool.prom"
ok "and at once where the command writes it" wait_for 10 found 'ALERTS{alertname="DlspoolNotServed"}'

done_testing
