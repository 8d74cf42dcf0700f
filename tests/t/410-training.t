#!/usr/bin/env bash
# Real training programs in real containers, the examples as they are delivered among them: scikit-learn
# on the digits, and PyTorch's DistributedDataParallel over gloo with two workers, run to its end and
# killed.  425-libraries.t runs the examples of other libraries.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip_all "python3-sklearn is not installed"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip_all "python3-torch is not installed"
new_spool local || exit 1
start_daemon
in_podman() {
    CONTAINERS_STORAGE_CONF=$spool/.podman/storage.conf CONTAINERS_CONF=$spool/.podman/containers.conf podman "$@"
}
containers() { in_podman ps -a --format '{{.Names}}' 2>/dev/null; }
example() { sed "s|^program: \.|program: $top/examples/$1|; $2" "$top/examples/$1/job.yaml"; }

ok "digits: submitted as it is delivered" dlspool submit "$top/examples/digits/job.yaml"
must "digits: trained" wait_for 120 in_state digits "done"
like "$(<"$(job_dir digits)/output/main-0.log")" 'accuracy.*0\.9' "and the accuracy is in output/"

# A version that is named is the one that runs, or the job is refused.
has() { dlspool status --json | jq -r ".executor.host.$1.version"; }
is "$(has sklearn)" "$(/usr/bin/python3 -c 'import sklearn; print(sklearn.__version__)')" "status tells which versions this machine has"
is "$(dlspool status --json | jq .executor.host.pytorch.gpus)" \
    "$(/usr/bin/python3 -c 'import torch; print("true" if torch.version.cuda else "false")')" "and whether with GPUs"
is "$(sed -n 's/^library_version: "\(.*\)"/\1/p' "$(job_dir digits)/job.yaml")" "$(has sklearn)" "the job's record tells which one it got"
is "$(dlspool show --json digits | jq -c '[.library_version, .ran]')" "[\"$(has sklearn)\",[{\"role\":\"main\",\"image\":\"host\"}]]" \
    "and show tells it, and that it ran on the machine's own files"
for version in "$(has sklearn | cut -d. -f1)" 99; do
    example digits "s/^name:.*/name: v$version/; s/^type:/version: $version\n&/" | drop "v$version.yaml"
done
ok "a version that is not there is refused" wait_for 60 in_state v99 failed
like "$(<"$(job_dir v99)/why")" "library sklearn, version 99,.*there is $(has sklearn | sed 's/+.*//').* on this machine" "and what there is is told"
ok "one that is there runs" wait_for 60 in_state "v$(has sklearn | cut -d. -f1)" "done"

# The image that an example names, without its registry: this machine's bash and Python.
python=$(readlink -f /usr/bin/python3) library=/usr/lib/$(basename "$(readlink -f /usr/bin/python3)")
programs=(/bin/{bash,sh,cat,cp,chmod,ln,mkdir,mv,rm,sleep} "$python" /usr/bin/python3)
tar -chf "$scratch/python.tar" --exclude=test --exclude=__pycache__ --exclude=dist-packages "${programs[@]}" "$library" \
    $(ldd "${programs[@]}" "$library"/lib-dynload/*.so 2>/dev/null | awk '$3 ~ /^\// {print $3} $1 ~ /^\/.*ld-/ {print $1}' | sort -u) \
    2>/dev/null
ok "an image is imported" in_podman import "$scratch/python.tar" docker.io/library/python:3.12-slim-bookworm
ok "the others are submitted" dlspool submit "$top/examples/hello/job.sh" "$top/examples/openpai/two-roles.json" \
    "$top/examples/ddp/job.yaml"
ok "hello: done" wait_for 60 in_state hello "done"
ok "two-roles: done" wait_for 60 in_state two-roles "done"
# (It asks again while the server begins, and prints why.)
like "$(<"$(job_dir two-roles)/output/worker-0.log")" "^the server answers$" "the worker was answered"
ok "ddp: trained" wait_for 180 in_state ddp "done"
for worker in 0 1; do
    like "$(<"$(job_dir ddp)/output/worker-$worker.log")" 'loss' "worker $worker printed its losses"
    like "$(<"$(job_dir ddp)/output/worker-$worker.log")" "rank $worker" "and its rank"
done
digest=$(in_podman image inspect -f '{{.Digest}}' docker.io/library/python:3.12-slim-bookworm 2>/dev/null)
like "$digest" '^sha256:[0-9a-f]{64}$' "podman tells the image's digest"
is "$(dlspool show two-roles | grep -E '^(image|ran) ' | tr -s ' ')" \
    "$(printf 'image %s\nran %s' docker.io/library/python:3.12-slim-bookworm "$digest")" "show tells in which image a job really ran"
like "$(<"$(job_dir two-roles)/log")" " image attempt=1 role=worker ran=$digest\$" "and so does its log in done/, for each role"
is "$(sed -n 's/.*manifest_sha256: "\(.*\)"/\1/p' "$(job_dir ddp)/job.yaml")" \
    "$(sha256sum <"$(job_dir ddp)/manifest.yaml" | cut -c1-64)" "what ran is what was rendered"

example ddp 's/EPOCHS: "5"/EPOCHS: "100000"/; s/^name: ddp/name: endless/' | drop endless.yaml
trains() { grep -q loss "$(job_dir endless)/output/worker-0.log" && grep -q loss "$(job_dir endless)/output/worker-1.log"; }
ok "ddp: both workers train" wait_for 120 trains
ok "kill" dlspool kill endless
gone() { ! containers | grep -q endless; }
ok "its containers are gone" wait_for 30 gone
ok "it ends in failed/" wait_for 20 in_state endless failed
like "$(<"$(job_dir endless)/why")" "killed by $(id -un)" "why says who killed it"

done_testing
