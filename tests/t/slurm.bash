# slurm.bash - a whole real Slurm for a script, and what scripts ask of it
#
# Source it after lib.bash.  The cluster is tests/slurm/cluster's, in $slurm; SLURM_CONF is set, so that
# squeue, scontrol and the others ask it.

slurm=$scratch/slurm
export SLURM_CONF=$slurm/slurm.conf PATH=$PATH:/usr/sbin
# What slurmctld writes into these would be read as the user's.
unset SLURM_JWT SQUEUE_FORMAT SINFO_FORMAT

# Slurm's daemons are of one ordinary user, as slurmrestd refuses root, and so are their jobs.  A script
# in which dlspool is that user, too, calls this first with its arguments: root's starts again as the user
# slurm.
ordinary_user() {
    [ "$(id -u)" = 0 ] || return 0
    command -v setpriv >/dev/null && id slurm >/dev/null 2>&1 || give_up "no user slurm: tools/setup check"
    if ! setpriv --reuid slurm --regid slurm --clear-groups test -r "$0" -a -x "$DLSPOOL"; then
        # A tree that is nobody else's business: what the script needs of it is put where slurm may read.
        mkdir "$scratch/top" && cp -r "$top/tests" "$top/templates" "$top/etc" "$scratch/top/" &&
            cp "$DLSPOOL" "$scratch/dlspool" && chmod -R a+rX "$scratch" || exit 1
        DLSPOOL=$scratch/dlspool setpriv --reuid slurm --regid slurm --clear-groups \
            env HOME=/nonexistent bash "$scratch/top/${0#"$top/"}" "$@"
        exit
    fi
    rm -rf "$scratch"
    exec setpriv --reuid slurm --regid slurm --clear-groups env HOME=/nonexistent DLSPOOL="$DLSPOOL" bash "$0" "$@"
}

cluster() { local verb=$1; shift; "$top/tests/slurm/cluster" "$verb" "$slurm" "$@"; }
start_slurm() {
    cluster up "$@" && return
    tail -n 5 "$slurm"/log/* 2>/dev/null | sed 's/^/# /' >&2
    give_up "Slurm starts"
}
stop_slurm() { cluster down; }

# Requests go through tests/slurm/proxy, which counts them, and loses answers on demand.
start_proxy() {
    mkdir "$scratch/proxy"
    "$top/tests/slurm/proxy" "$scratch/proxy/sock" "$slurm/rest.sock" "$scratch/proxy" 2>"$scratch/proxy/log" &
    proxy=$!
    wait_for 10 test -S "$scratch/proxy/sock"
}
stop_proxy() { [ -z "${proxy:-}" ] || { kill "$proxy" 2>/dev/null; wait "$proxy" 2>/dev/null; proxy=; }; }
# fault cut|refuse METHOD PATTERN COUNT: what the proxy does to the next requests of that kind.
fault() { echo "$*" >"$scratch/proxy/faults.set" && mv "$scratch/proxy/faults.set" "$scratch/proxy/faults"; }
# requests METHOD PATTERN [STATUS]: how many there were, of paths that fit.
requests() { awk -v m="$1" -v p="$2" -v s="${3:-}" '$1 == m && $2 ~ p && (s == "" || $3 == s)' "$scratch/proxy/requests" | wc -l; }

slurm_spool() { # [SOCKET]
    new_spool slurm || return 1
    set_setting address "unix:${1:-$slurm/rest.sock}"
    set_setting retry_first 500ms
    set_setting retry_longest 2s
    set_setting kill_grace 500ms
}

# jobs_of NAME [FIELDS]: what slurmctld has of jobs of that name, as squeue formats it.
jobs_of() { squeue -h -t all -n "$1" -o "${2:-%i %T %r}" 2>/dev/null; }
# slurm_id NAME: the id at Slurm of the newest of them.
slurm_id() { squeue -h -t all -o '%A %k' 2>/dev/null | awk -v id=":$(basename "$(job_dir "$1")"):" 'index($2, id) { print $1 }' | sort -n | tail -n 1; }
slurm_is_idle() { [ "$(squeue -h | wc -l)" = 0 ]; }

# job NAME SCRIPT [LINE...]: drop a job with that script, if any; more lines of its file.  $type is its
# type, single if not set; $dropper who drops it.
job() {
    local name=$1 script=$2
    shift 2
    {
        printf 'name: %s\nlibrary: any\ntype: %s\n' "$name" "${type:-single}"
        [ $# = 0 ] || printf '%s\n' "$@"
        [ -z "$script" ] || printf '#!/bin/bash\n%s\n' "$script" | sed '1i script: |
            s/^/  /'
    } >"$scratch/$name.yaml"
    if [ -z "${dropper:-}" ]; then
        mv "$scratch/$name.yaml" "$spool/incoming/"
    else
        chmod 644 "$scratch/$name.yaml"
        setpriv --reuid "$dropper" --regid "$(id -g "$dropper")" --clear-groups cp "$scratch/$name.yaml" "$spool/incoming/"
    fi
}

# What dlspool has of a job.
log_of() { cat "$(job_dir "$1")/log"; }
says() { log_of "$1" | grep -Eq -- "$2"; }
output_of() { cat "$(job_dir "$1")/output/${2:-main-0.log}"; }
why() { cat "$(job_dir "$1")/why"; }
record() { cat "$(job_dir "$1")/job.yaml"; }
