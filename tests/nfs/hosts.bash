# hosts.bash - what a script asks of the hosts that tests/nfs/guest has set up
#
# The clients' mount point is /run/nfs ($shared), on each host its own; the server's directories are
# /run/export/{plain,squash,small}: root is root in `plain` and in `small`, which has 20 MB, and
# nobody in `squash`.
#   on HOST COMMAND...            (a program, beside this file) run a command there
#   attach HOST VERSION [OPTIONS [EXPORT]]    mount an export; detach HOST
#   server_stop, server_start     nfsd ends and comes back; its clients reclaim what they had
#   unplug HOST, plug HOST        take away and give back the host's network
# What the script itself starts runs beside the hosts, which reach it at 10.9.0.1 ($beside).

shared=/run/nfs
address=10.9
beside=10.9.0.1

# What all hosts have in place of files of this machine: names are not asked of anybody, which
# would be waited for, and there is no IPv6.
etc_make() {
    mkdir -p /run/etc
    printf '127.0.0.1 localhost\n%s.1.1 server\n%s.1.2 A\n%s.2.2 B\n' $address $address $address >/run/etc/hosts
    : >/run/etc/resolv.conf
    printf 'passwd: files\ngroup: files\nhosts: files\nprotocols: files\nservices: files\nrpc: files\n' >/run/etc/nsswitch.conf
    grep -v '^[a-z]*6 ' /etc/netconfig >/run/etc/netconfig
    for file in hosts resolv.conf nsswitch.conf netconfig; do
        [ ! -e /etc/$file ] || mount -n --bind /run/etc/$file /etc/$file
    done
    mount -n -t tmpfs -o mode=755 tmpfs /var/lib/nfs
}

# host_make NAME NUMBER: a host is a process that sleeps in namespaces of its own, with a /run of its
# own (the sockets of rpcbind are there).  0 is the server, whose network is the machine's: the
# kernel's half of nfsd belongs to that.
host_make() {
    local name=$1 number=$2 process network=--net
    [ "$number" != 0 ] || network=
    # shellcheck disable=SC2086 # one word, or none
    unshare $network --uts --mount --propagation private sh -c '
        echo "$1" >/proc/sys/kernel/hostname
        own=/run/own.$1
        mkdir "$own" && mount -n -t tmpfs -o mode=755 tmpfs "$own"
        cd "$own" && mkdir rig tmp home export hosts modules nfs rpc_pipefs
        for part in rig tmp home export hosts modules; do mount -n --rbind "/run/$part" $part; done
        cd / && mount -n --move "$own" /run
        mount -n -t tmpfs -o mode=755 tmpfs /var/lib/nfs
        cd /var/lib/nfs && mkdir sm sm.bak nfsdcld && touch etab rmtab state xtab
        chown statd: sm sm.bak state
        read -r process rest </proc/self/stat
        echo $process >"$RIG_HOSTS/$1.new" && mv "$RIG_HOSTS/$1.new" "$RIG_HOSTS/$1"
        cd / && exec sleep infinity' host "$name" &
    until [ -e "$RIG_HOSTS/$name" ]; do sleep 0.01; done
    process=$(cat "$RIG_HOSTS/$name")
    if [ "$number" != 0 ]; then
        ip link add "to$name" type veth peer name eth0 netns "$process"
        ip address add "$address.$number.1/24" dev "to$name"
        ip link set "to$name" up
        on "$name" sh -c "ip address add $address.$number.2/24 dev eth0; ip link set eth0 up; ip link set lo up
            ip route add default via $address.$number.1; rpcbind -w; rpc.statd"
    else
        on "$name" sh -c 'rpcbind -w; rpc.statd'
    fi
}
number_of() { case $1 in A) echo 1 ;; B) echo 2 ;; esac; }

# The shortest times that there are in which clients may reclaim what they had: 10 s, and 3 s for
# locks of NFSv3.
server_start() {
    on server sh -c '
        [ -e /proc/fs/nfsd/threads ] || {
            mount -n -t nfsd nfsd /proc/fs/nfsd
            mount -n -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
            nfsdcld -p /run/rpc_pipefs -s /var/lib/nfs/nfsdcld
            echo 10 >/proc/fs/nfsd/nfsv4leasetime
            echo 10 >/proc/fs/nfsd/nfsv4gracetime
            echo 3 >/proc/sys/fs/nfs/nlm_timeout
            echo 3 >/proc/sys/fs/nfs/nlm_grace_period
            printf "%s\n" "/run/export *(ro,fsid=0,no_subtree_check,insecure)" \
                "/run/export/plain *(rw,no_root_squash,no_subtree_check,insecure)" \
                "/run/export/squash *(rw,root_squash,no_subtree_check,insecure)" \
                "/run/export/small *(rw,no_root_squash,no_subtree_check,insecure,fsid=7)" >/run/exports
            mkdir -p /run/exports.d && mount -n --bind /run/exports /etc/exports
            rpc.mountd
        }
        exportfs -r
        rpc.nfsd 4'
}
server_stop() { on server rpc.nfsd 0; }

attach() {
    local host=$1 version=$2 options=${3:-} export=${4:-plain} root=
    [ "$version" != 3 ] || root=/run/export
    on "$host" mount -n -t nfs -o "vers=$version,sec=sys${options:+,$options}" \
        "$address.$(number_of "$host").1:$root/$export" $shared
}
detach() { on "$1" umount -l $shared; }
unplug() { ip link set "to$1" down; }
plug() { ip link set "to$1" up; }
