#!/usr/bin/env bash
# The documentation says what the code does: manual pages against --help and the tables of settings,
# docs/spool.md against the events and fields that are written, and links against files.
. "$(dirname "$0")/lib.bash"
cd "$top" || exit 1
man=docs/man

# rendered PAGE: the text of a page, without overstriking, hyphenation and line breaks in the way.
# Each page is rendered once; what man finds wrong with it goes beside it.
mkdir "$scratch/pages"
for page in $man/*.[15]; do
    MANWIDTH=200 MANOPT="--nh --nj" LC_ALL=C man --warnings -l "$page" 2>"$scratch/pages/${page##*/}.faults" |
        col -bx >"$scratch/pages/${page##*/}"
done
rendered() { cat "$scratch/pages/${1##*/}"; }
# section NAME: of a rendered page on standard input.
section() { awk -v name="$1" '/^[A-Z]/ {on = $0 == name; next} on'; }
# options: the options that a text names, each once.
options() { perl -ne '$found{$1} = 1 while /(?<![[:alnum:]-])(--?[a-z][a-z-]*)/g; END { print map "$_\n", sort keys %found }'; }
words() { tr '\n' ' '; }

verbs=$("$DLSPOOL" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
whole=$(rendered $man/dlspool.1)
for verb in $verbs; do
    page=$man/dlspool-$verb.1
    [ -e "$page" ] || { fail "$verb has a manual page" "$page is missing"; continue; }
    text=$(rendered "$page")
    usage=$("$DLSPOOL" "$verb" --help)
    help=$(grep -E '^  (-|    --)' <<<"$usage" | sed -E 's/^(.{28}).*/\1/')
    # The first words of an indented paragraph that starts with a dash.
    written=$(section OPTIONS <<<"$text" | grep -E '^ {7}-')
    is "$(options <<<"$written" | words)" "$(options <<<"$help" | words)" \
        "the OPTIONS of $verb are those of --help"
    own=$(options <<<"$help" | grep '^--' | grep -vx -e --spool -e --help)
    is "$(section SYNOPSIS <<<"$text" | options | grep '^--' | words)" "$(printf '%s' "${own:+$own$'\n'}" | words)" \
        "and so is its SYNOPSIS"
    arguments() { grep -oE -- '--[a-z]+ [A-Z]+\b' | sort -u | words; }
    is "$(arguments <<<"$written")" "$(arguments <<<"$help")" "with the same names of values"
    operands=$(sed -n '1s/.*'"$verb"'\( \[OPTIONS\]\)\{0,1\} *//p' <<<"$usage")
    if [ "$verb" = render ]; then operands='FILE|JOB...'; fi   # ID is an option's value there
    like "$(section SYNOPSIS <<<"$text" | tr -s '\n ' ' ' | sed 's/ *$//')" \
        "$(printf '%s' "$operands" | sed -E 's/[].|[]/\\&/g')\$" "and the same operands"
    missing=
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
        grep -qx "$section" <<<"$text" || missing+="$section "
    done
    is "$missing" "" "and the page has all its sections"
    like "$whole" "dlspool-$verb\(1\)" "dlspool(1) names it"
done
for page in $man/*.1 $man/*.5; do
    is "$(<"$scratch/pages/${page##*/}.faults")" "" "man finds no fault with ${page##*/}"
    name=${page##*/}
    name=${name%.[15]}
    case $name in dlspool | dlspool.yaml | dlspool-job | dlspool-json) continue ;; esac
    like " $(words <<<"$verbs")" " ${name#dlspool-} " "$name is the page of a verb"
done
for page in $(cat $man/*.[15] | sed 's/\\-/-/g' | grep -oE '^\.BR dlspool[a-z.-]* +"?\([15]\)' | tr -d ' "' | sort -u); do
    page=${page#.BR}
    file=${page%)}
    ok "the page $page that is referred to is there" test -e "$man/${file/(/.}"
done

# Settings: those of the code are described, no others, with the defaults that etc/dlspool.yaml has.
described=$(rendered $man/dlspool.yaml.5 | sed -nE 's/^ {7}([a-z_.]+) \(default (.*)\)$/\1 \2/p' | sort)
known=$({
    sed -nE 's/^    \{"([a-z_.]+)", [.S].*/\1/p' spool/settings.c | grep -vx -e local -e kubernetes -e slurm -e planner -e keep -e metrics -e notify -e limits -e limits.priority -e shares -e web
    for executor in local kubernetes slurm; do
        sed -n '/ fields\[\] = {/,/^};/p' executors/$executor/settings.c |
            grep -oE '\{"[a-z_]+", [.S]' | sed -E 's/^\{"([a-z_]+)".*/'"$executor"'.\1/'
    done
} | sort)
is "$(cut -d' ' -f1 <<<"$described")" "$known" "dlspool.yaml(5) describes the settings of the code and no other"
defaults=$(awk 'match($0, /^ *[a-z_]+:/) {
        depth = (match($0, /[a-z_]/) - 1) / 2; sub(/^ */, ""); key[depth] = $1
        if (NF > 1) {
            name = ""
            for (i = 0; i <= depth; i++) name = name substr(key[i], 1, length(key[i]) - 1) (i < depth ? "." : "")
            sub(/^[a-z_]+: /, ""); print name, $0
        }
    }' etc/dlspool.yaml | sort)
is "$(cut -d' ' -f1 <<<"$defaults")" "$known" "etc/dlspool.yaml has the settings of the code and no other"
is "$(comm -13 <(echo "$described") <(echo "$defaults"))" "" \
    "dlspool.yaml(5) has the defaults of etc/dlspool.yaml"
# ... and the defaults and limits of the table in spool/settings.c.
limit() { # limit MILLISECONDS: as the page writes it
    local value
    value=$(awk "BEGIN {printf \"%.0f\", $1}")
    for unit in d:86400000 h:3600000 m:60000 s:1000 ms:1; do
        if [ "$value" -gt 0 ] && [ $((value % ${unit#*:})) = 0 ] && [ "$value" -ge "${unit#*:}" ]; then
            echo "$((value / ${unit#*:}))${unit%:*}"; return
        fi
    done
    echo 0
}
milliseconds() { # milliseconds DURATION, of one unit
    local value=${1%%[a-z]*}
    case $1 in null) echo 0 ;; *ms) echo "$value" ;; *s) echo $((value * 1000)) ;; *m) echo $((value * 60000)) ;;
    *h) echo $((value * 3600000)) ;; *d) echo $((value * 86400000)) ;; esac
}
wrong=
wrong_defaults=
while IFS=' ' read -r name otherwise least most; do
    written=$(awk -v name="$name" '$1 == name {print $2}' <<<"$described")
    [ "$(milliseconds "$written")" = "$(awk "BEGIN {print $otherwise}")" ] || wrong_defaults+="$name $written $otherwise; "
    paragraph=$(rendered $man/dlspool.yaml.5 | awk -v name="$name" '
        /^       [a-z]/ {on = $1 == name} on' | tr -s ' \n' ' ')
    case $paragraph in *"$(limit "$least") to $(limit "$most")"*) ;; *) wrong+="$name $(limit "$least") $(limit "$most"); " ;; esac
done < <(sed -nE 's/^    \{"([a-z_.]+)", SECTION_DURATION, AT\([a-z_.]+\), ([0-9 *]+), ([0-9]+), ([0-9 *]+), .*/\1 \2 \3 \4/p' \
    spool/settings.c | sed 's/ \* /*/')
is "$wrong" "" "and the limits of durations"
is "$wrong_defaults" "" "and the defaults that durations have in the code"
numbers=$({
    sed -nE 's/^    \{"([a-z_.]+)", SECTION_COUNT, AT\([a-z_.]+\), ([0-9]+), .*/\1 \2/p' spool/settings.c
    for executor in local kubernetes slurm; do
        sed -nE 's/^    \{"([a-z_]+)", SECTION_(WHOLE|COUNT), AT\([a-z_]+\), ([0-9]+), .*/'$executor'.\1 \3/p' executors/$executor/settings.c
    done
} | sort)
like "$numbers" 'slurm.live_max ' "whole numbers are found in the code"
is "$(comm -13 <(echo "$described") <(echo "$numbers"))" "" "and have the same defaults"

# docs/spool.md: a row of a table for each event, field and word.
rows() { sed -nE 's/^\| (`[^|]*) \|.*/\1/p' docs/spool.md | grep -oE '`[^`]+`' | tr -d '`' | sort -u; }
described=$(rows)
undescribed() { comm -23 <(sort -u) <(echo "$described") | words; }
events=$({ grep -ohE 'eventlog_start\([^"]*"[a-z]+"' stages/*.c stages/*/*.c | grep -oE '"[a-z]+"' | tr -d '"'
    sed -n '/^} verbs\[/,/^};/p' request/control.c | grep -oE '"[a-z]+", CONTROL_[A-Z]+' | grep -vE 'CONTROL_(NONE|PAUSE|RESUME|TOKEN|REVOKE)' | grep -oE '[a-z]{3,}'; } | sort -u)
like "$(words <<<"$events")" 'accepted .*finished .*kill .*submitted ' "the events are found in the code"
is "$(undescribed <<<"$events")" "" "every event is described"
unlike "$(grep -hE 'eventlog_start\(' stages/*.c stages/*/*.c | grep -v 'request_control_name(')" 'eventlog_start\([^"]*$' \
    "every event is named where it is written"
keys=$(grep -ohE '(eventlog_add(_string|_number)?|add_time)\([^"]*"[a-z_0-9]+"' stages/*.c stages/*/*.c | grep -oE '"[a-z_0-9]+"' | tr -d '"' | sort -u)
like "$(words <<<"$keys")" 'at attempt .*cause .*why ' "the events' keys are found in the code"
unknown=
for key in $keys; do
    grep -qE "^\| \`[a-z]+\` \|.*\`$key\`" docs/spool.md || unknown+="$key "
done
is "$unknown" "" "every key of an event is described"
fields=$(grep -oE 'FIELD\("[a-z_0-9]+"' spool/record.c | grep -oE '[a-z_0-9]{2,}' | sort -u)
like "$(words <<<"$fields")" 'accepted .*exit_code .*uid ' "the fields of job.yaml are found in the code"
is "$(undescribed <<<"$fields")" "" "every field of job.yaml is described"
reasons=$({ grep -ohE 'begin_diagnosis\(diagnosis, "[A-Za-z]+"' stages/shared/diagnosis.c
    sed -n '/reasons\[\] = {/,/};/p' stages/shared/diagnosis.c
    grep -ohE 'note_reason\(finding, [^"]*"[A-Za-z]+"' executors/local/*.c; } | grep -oE '"[A-Z][A-Za-z]+"' | tr -d '"' | sort -u)
like "$(words <<<"$reasons")" 'BadFile .*NoImage .*OOMKilled .*StartError .*Vanished ' "the reasons are found in the code"
is "$(undescribed <<<"$reasons")" "" "every reason is described"
retry_words=$(sed -nE 's/.*when_names\[\] = \{(.*)\};/\1/p' spool/retry_when.c | tr -d '", ' | grep -c .)
is "$retry_words" 1 "the words of retry are found in the code"
is "$(sed -nE 's/.*when_names\[\] = \{(.*)\};/\1/p' spool/retry_when.c | grep -oE '[a-z]+' | undescribed)" "" \
    "every word of retry is described"

# Links.  Anchors are made as the usual renderers make them.
broken=$(perl - README.md docs/*.md <<'PROGRAM'
use File::Basename;
my %anchors;
sub text_of { open my $file, '<', $_[0] or die "$_[0]: $!"; local $/; <$file> }
sub anchors {
    my ($page) = @_;
    return $anchors{$page} if $anchors{$page};
    my $text = text_of($page) =~ s/^```.*?^```$//gmsr;
    my %found;
    for ($text =~ /^#+ (.*)$/gm) {
        my $anchor = lc =~ s/[^a-z0-9 _-]//gr;
        $found{$anchor =~ tr/ /-/r} = 1;
    }
    return $anchors{$page} = \%found;
}
for my $page (@ARGV) {
    for my $link (text_of($page) =~ /\]\(([^)]+)\)/g) {
        next if $link =~ m{^https?://};
        my ($file, $anchor) = split /#/, $link, 2;
        my $target = $file eq '' ? $page : dirname($page) . "/$file";
        print "$page: $link; " unless -e $target && (!defined $anchor || anchors($target)->{$anchor});
    }
}
PROGRAM
)
is "$?,$broken" "0," "every link leads somewhere"

# What docs/developer.md names is there.
missing=$(comm -23 <(grep -oE '`[a-z0-9_]+\(\)`' docs/developer.md | tr -d '`()' | grep -vx exit | sort -u) \
    <(grep -ohE '\b[a-z0-9_]+\(' -- */*.[ch] {request,renderer,executors,stages}/*/*.[ch] | tr -d '(' | sort -u) | words)
for name in $(grep -oE '`(base|spool|watcher|request|renderer|executors|stages|commands|tools|tests|etc|docs)/[a-z0-9_./-]+`' \
    docs/developer.md | tr -d '`' | sort -u); do
    [ -e "$name" ] || missing+="$name "
done
is "$missing" "" "docs/developer.md names functions and files that there are"

done_testing
