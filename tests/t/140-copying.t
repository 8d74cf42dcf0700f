#!/usr/bin/env bash
# A file that is copied, not renamed, is never taken half-written, however slowly it comes.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting cut_off_time 3s
start_daemon
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }

# A whole request is longer than each of its prefixes, many of which are requests too.
cat >"$scratch/slow.yaml" <<'JOB'
name: slow
library: any
type: single
script: |
  #!/bin/sh
  echo one
  echo two
priority: 7
JOB
# Written in pieces by one program that holds it open, with rests longer than the quiet time.
/usr/bin/python3 - "$scratch/slow.yaml" "$spool/incoming/slow.yaml" <<'PY' &
import sys, time
text = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb", buffering=0) as out:
    for start in range(0, len(text), 30):
        out.write(text[start:start + 30])
        time.sleep(0.8)
PY
writer=$!
cp "$scratch/slow.yaml" "$spool/incoming/quick.yaml"
wait $writer
ok "the slow file is done" wait_for 20 sh -c "ls $spool/done/*/ | grep -q '^slow'"
for job in "$spool"/done/*/slow-*; do
    ok "what was taken is whole" cmp "$scratch/slow.yaml" "$job/request.yaml"
done
is "$(ls "$spool/failed")" "" "nothing was taken before"

# job_log NAME: the lines of a job's log, of a job that has ended.
job_log() { wait_for 20 has_ended "$1"; cat "$(job_dir "$1")/log"; }
like "$(job_log slow)" ' accepted .*complete=no-writer' "its log says how it was known to be whole"

# JSON that closes needs no quiet time; JSON that does not is refused, with the reason.
printf '{"name": "closed", "library": "any", "type": "single", "script": "#!/bin/sh"}' >"$spool/incoming/closed.json"
ok "JSON that closes is taken" wait_for 10 in_state closed "done"
like "$(job_log closed)" 'complete=end-mark' "because it closes"
job renamed >"$spool/incoming/.renamed"; mv "$spool/incoming/.renamed" "$spool/incoming/renamed.yaml"
ok "what is renamed is taken" wait_for 10 in_state renamed "done"
like "$(job_log renamed)" 'complete=rename' "because it was renamed"
printf '{"name": "open", "library": "any", "type": "sing' >"$spool/incoming/open.json"
ok "JSON that does not close is refused" wait_for 20 has_ended open
like "$(<"$(job_dir open)/why")" 'open.json:1:4[0-9]: ' "because of where it ends"
ok "and not taken for a job" test -z "$(find "$spool/done" -name 'open-*')"

# Many editors write no newline at the end.
printf 'name: editor\nlibrary: any\ntype: single\nscript: "#!/bin/sh"' >"$spool/incoming/editor.yaml"
ok "a whole file without a newline at its end is taken" wait_for 20 in_state editor "done"
like "$(job_log editor)" 'complete=no-writer' "because nobody has it open"
printf 'name: cut\nlibrary: any\ntype: single\nscr' >"$spool/incoming/cut.yaml"
ok "one that makes no sense is refused" wait_for 20 in_state cut failed
like "$(<"$(job_dir cut)/why")" 'cut.yaml:4:[14]: ' "with its mistake"
like "$(<"$(job_dir cut)/why")" 'if it was cut off on its way, drop the whole file again' "and that it may be cut off"
: >"$spool/incoming/empty.yaml"
ok "an empty one is refused" wait_for 20 in_state empty failed
like "$(<"$(job_dir empty)/why")" 'it is empty, .*write the job into it and drop it again' "because it is empty"

# What is no text is told by its first bytes, by cp as by submit.
gzip -c "$scratch/slow.yaml" >"$scratch/zipped.yaml"
cp "$scratch/zipped.yaml" "$spool/incoming/"
tar cf "$scratch/archive.tar" -C "$scratch" slow.yaml
cp "$scratch/archive.tar" "$spool/incoming/"
iconv -f UTF-8 -t UTF-16 "$scratch/slow.yaml" >"$scratch/wide.yaml"
cp "$scratch/wide.yaml" "$spool/incoming/"
for kind in 'zipped.yaml:a gzip file, expected the text of a job file; unpack it' 'archive.tar:a tar archive, expected' 'wide.yaml:UTF-16, expected text in UTF-8; .*iconv'; do
    name=${kind%%:*}
    ok "$name is refused" wait_for 20 in_state "${name%.*}" failed
    like "$(cat "$(job_dir "${name%.*}")/why")" "$name: found ${kind#*:}" "for what it is"
    like "$(dlspool submit "$scratch/$name" 2>&1)" "$name: found ${kind#*:}" "as submit says"
done

# Names of work in progress: never taken as they are.
cp "$scratch/slow.yaml" "$spool/incoming/left.yaml~"
cp "$scratch/slow.yaml" "$spool/incoming/.left.yaml"
for name in 'left.yaml~' '.left.yaml'; do
    ok "the log names $name" wait_for 15 grep -q "incoming: \"$name\" has waited for .* and is never taken: .*rename it" "$scratch/daemon.log"
done
for name in 'given.yaml~' '.given.yaml' 'given.tmp' '.given.yaml.swp'; do
    job given >"$scratch/$name"
    id=$(dlspool submit --wait "$scratch/$name" 2>/dev/null | head -1)
    like "$id" '^given-' "submit makes a job of $name"
done

# A control file is a file as any other.
{ job victim; echo 'hold: true'; } >"$scratch/victim.yaml"
victim=$(dlspool submit "$scratch/victim.yaml")
ok "a job is held" wait_for 10 in_state victim held
echo "kill: $victim" >"$scratch/kill.yaml"
is "$(dlspool submit "$scratch/kill.yaml" 2>&1)" "dlspool submit: $scratch/kill.yaml is a control file, and was dropped; see \`dlspool show $victim\`" "submit takes a control file"
ok "which is acted on" wait_for 10 in_state victim failed
echo "kill: nobody-0000000000000" >"$scratch/kill.yaml"
dlspool submit "$scratch/kill.yaml" 2>/dev/null
is $? 1 "but not for a job that is not there"

done_testing
