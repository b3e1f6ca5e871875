#!/usr/bin/env bash
# Proves that a command works where nothing is installed: makes a minimal Debian bookworm with git
# in a folder, clones this project into it and runs ./run there. Needs root and debootstrap.
#
# The one thing to know: how the network is reached (package mirror, certificates, pip settings) is
# taken from this machine, since it is no part of the project.
set -euo pipefail

[ $# -ge 2 ] || {
    printf 'usage: %s FOLDER RUN-ARGUMENT...\nexample: %s /var/tmp/fresh build\n' "$0" "$0" >&2
    exit 2
}
folder=$(realpath -m "$1")
shift
project=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")

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
mountpoint -q "$folder/proc" || mount -t proc proc "$folder/proc"
mountpoint -q "$folder/dev" || mount --rbind /dev "$folder/dev"

# Only what pip and proxies need of this machine's environment goes in.
mapfile -t settings < <(env | grep -iE '^(PIP_[A-Z_]+|https?_proxy|no_proxy)=' || true)
chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    "${settings[@]}" /project/run "$@"
