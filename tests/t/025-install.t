#!/usr/bin/env bash
# make install puts in place what a package has, and make uninstall takes it away; make says what it needs.
. "$(dirname "$0")/lib.bash"
built=$(dirname "$DLSPOOL")
put() { make -s -C "$top" BUILD="$built" "$@" >"$scratch/make.log" 2>&1; }

mkdir -p "$scratch/image/usr/share/doc/another"
ok "make install, as a package does" put install PREFIX=/usr UNITDIR=/lib/systemd/system DESTDIR="$scratch/image"
cd "$scratch/image" || exit 1
is "$(find . -type f ! -path './usr/share/doc/*' ! -path './usr/share/man/*' | LC_ALL=C sort | tr '\n' ' ')" \
    "./lib/systemd/system/dlspool-web@.service ./lib/systemd/system/dlspool-web@.socket ./lib/systemd/system/dlspool@.service ./usr/bin/dlspool ./usr/lib/sysusers.d/dlspool.conf \
./usr/lib/tmpfiles.d/dlspool.conf ./usr/share/bash-completion/completions/dlspool ./usr/share/dlspool/dlspool.rules.yaml ./usr/share/dlspool/dlspool.yaml \
./usr/share/dlspool/grafana.json ./usr/share/dlspool/kubernetes-role.yaml ./usr/share/dlspool/without-containers.conf " "has these files"
is "$(cd usr/share/man && find . -type f | sed 's|.*/||' | LC_ALL=C sort)" "$(cd "$top/docs/man" && LC_ALL=C ls)" "each page of the manual"
[ ! -e "$top/.git" ] || is "$(cd usr/share/doc/dlspool && find docs README.md examples -type f | LC_ALL=C sort)" \
    "$(cd "$top" && git -c safe.directory='*' ls-files 'docs/*.md' README.md examples | LC_ALL=C sort)" "and the documentation with its examples"
is "$(stat -c %a usr/bin/dlspool lib/systemd/system/dlspool@.service usr/share/doc/dlspool/examples/digits/job.yaml | tr '\n' ' ')" \
    "755 644 644 " "with their modes"
like "$(cat lib/systemd/system/dlspool@.service)" '^ExecStart=/usr/bin/dlspool -s %I run$' "the unit starts the program that is installed"
is "$(sed -n '1s/^dlspool (\(.*\)) .*/\1/p' "$top/debian/changelog")" "$(<"$top/VERSION")" "the package has the program's version"
unlike "$(cat lib/systemd/system/dlspool@.service)" '@PREFIX@' "and nothing is left to be filled in"

if [ "$(id -u)" = 0 ] && command -v systemd-sysusers >/dev/null; then
    mkdir -p etc && : >etc/passwd && : >etc/group
    ok "the user can be made" systemd-sysusers --root="$PWD"
    like "$(cat etc/passwd)" '^dlspool:.*:/nonexistent:/usr/sbin/nologin$' "who has no home and no shell"
    ok "and the directories" systemd-tmpfiles --root="$PWD" --create dlspool.conf
    is "$(stat -c '%a %u' var/spool/dlspool etc/dlspool | tr '\n' ' ')" "755 0 700 0 " "which are root's"
fi

ok "make uninstall" put uninstall PREFIX=/usr UNITDIR=/lib/systemd/system DESTDIR="$scratch/image"
is "$(find lib usr -type f)" "" "leaves no file"
is "$(find . -name 'dlspool*' ! -path './var/*' ! -path './etc/*')" "" "nor a directory of its own"
ok "and nothing that another has" test -d usr/share/doc/another
cd "$scratch" || exit 1

# Without the libraries: one sentence, and nothing is begun.
needs() {
    echo "$* $(PKG_CONFIG_LIBDIR=$scratch make -s -C "$top" BUILD="$scratch/unbuilt" "$@" 2>&1 | sed 's/^[^ ]* //')"
}
missing="as these are not installed: yaml-0.1, libgit2, libcurl, jansson, libseccomp, libcrypto, libarchive, libmicrohttpd"
is "$(needs all)" "all *** dlspool cannot be built here, $missing.  On Debian, install them with: tools/setup build.  Stop."     "make says in one sentence what it needs, and the command"
is "$(needs unit)" "unit *** dlspool's tests cannot be run here, $missing, cmocka.  On Debian, install them with: tools/setup check.  Stop."     "and make unit what that needs"
ok "nothing is begun" test ! -e "$scratch/unbuilt"

# The units as systemd reads them, where its tool is there.
if command -v systemd-analyze >/dev/null; then
    ok "make install elsewhere" put install PREFIX="$scratch/prefix"
    units=$scratch/prefix/lib/systemd/system
    cp "$units/dlspool@.service" "$units/dlspool@-var-spool-dlspool.service"
    verified() { SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units/dlspool@-var-spool-dlspool.service" 2>&1 | grep dlspool; }
    is "$(verified)" "" "systemd finds nothing wrong with the unit"
    mkdir "$units/dlspool@-var-spool-dlspool.service.d"
    cp "$scratch/prefix/share/dlspool/without-containers.conf" "$units/dlspool@-var-spool-dlspool.service.d/"
    is "$(verified)" "" "nor with the drop-in for machines without containers"
    exposure() { SYSTEMD_UNIT_PATH="$units:" systemd-analyze security --offline=true dlspool@-var-spool-dlspool.service 2>/dev/null | sed -n 's/.*: \([0-9.]*\) .*/\1/p' | tail -n 1; }
    like "$(exposure)" '^3[.]' "which leaves little"
    rm -r "$units/dlspool@-var-spool-dlspool.service.d"
    like "$(exposure)" '^7[.]' "the unit itself leaves what podman needs"
    like "$(cat "$units/dlspool-web@.service")" "^ExecStart=$scratch/prefix/bin/dlspool -s %I web$" "there is a unit for pages"
    cp "$units/dlspool-web@.service" "$units/dlspool-web@-var-spool-dlspool.service"
    cp "$units/dlspool-web@.socket" "$units/dlspool-web@-var-spool-dlspool.socket"
    is "$(SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units"/dlspool-web@-var-spool-dlspool.{service,socket} 2>&1 | grep dlspool)" "" \
        "in which systemd finds nothing wrong, nor in its socket"
    like "$(SYSTEMD_UNIT_PATH="$units:" systemd-analyze security --offline=true dlspool-web@-var-spool-dlspool.service 2>/dev/null |
        sed -n 's/.*: \([0-9.]*\) .*/\1/p' | tail -n 1)" '^[1-3][.]' "and which leaves little"
fi

done_testing
