#!/usr/bin/env bash
# Proves that a command works where nothing is installed: makes a minimal Debian bookworm with git
# in a folder, clones this project into it and runs ./run there. Needs root and debootstrap.
#
# The mounts lie in a namespace of their own, which ends with this script: who removes the folder
# removes the folder alone, never the devices of this machine. How the network is reached (package
# mirror, certificates, pip settings) is taken from this machine: it is no part of the project.
set -euo pipefail

[ $# -ge 2 ] || {
    printf 'usage: %s FOLDER RUN-ARGUMENT...\nexample: %s /var/tmp/fresh build\n' "$0" "$0" >&2
    exit 2
}
folder=$(realpath -m "$1")
shift
project=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")

if [ "${VIRTACCEL_OWN_MOUNTS-no}" != yes ]; then
    VIRTACCEL_OWN_MOUNTS=yes exec unshare --mount --propagation private "$0" "$folder" "$@"
fi

mirror() {
    # apt puts the words in, not the shell.
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' |
        head -n 1
}

if [ ! -d "$folder/project" ]; then
    debootstrap --variant=minbase --include=git bookworm "$folder" "$(mirror)"
    cp -a /etc/apt/. "$folder/etc/apt/"
    cp /etc/resolv.conf /etc/hosts "$folder/etc/"
    [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$folder/etc/"
    mkdir -p "$folder/etc/ssl/certs" "$folder/usr/local/share/ca-certificates"
    cp -a /usr/local/share/ca-certificates/. "$folder/usr/local/share/ca-certificates/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
    git clone --quiet "$project" "$folder/project"
fi
mount -t proc proc "$folder/proc"
mount -t tmpfs -o mode=755 devices "$folder/dev"
for device in null zero full random urandom tty; do
    : >"$folder/dev/$device"
    mount --bind "/dev/$device" "$folder/dev/$device"
done
ln -s /proc/self/fd "$folder/dev/fd"
mkdir "$folder/dev/shm"
mount -t tmpfs -o mode=1777 shared "$folder/dev/shm"

# Only what pip and proxies need of this machine's environment goes in.
mapfile -t settings < <(env | grep -iE '^(PIP_[A-Z_]+|https?_proxy|no_proxy)=' || true)
chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    "${settings[@]}" /project/run "$@"
