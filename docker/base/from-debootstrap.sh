#!/usr/bin/env bash
# Make the base root filesystem with debootstrap; no image registry needed. Writes a tar to stdout.
#
# Usage: docker/base/from-debootstrap.sh SUITE PACKAGE... >ROOTFS.tar
#
# Needs root; installs debootstrap where apt-get can. Tries the mirrors of mirrors.sh in turn,
# and accepts only what Debian's archive key signed. TMPDIR needs 500 MB, without nodev or noexec.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../engine/common.sh
source "$HERE/../engine/common.sh"

need_debootstrap() {
    need_root "debootstrap"
    command -v debootstrap >/dev/null && return
    command -v apt-get >/dev/null || die "debootstrap is missing: install it, or set A11Y_BENCH_BASE_FROM=registry"
    apt_install debootstrap debian-archive-keyring
}

# Mirror addresses may hold a password: it is shown nowhere.
masked() { sed -E 's#//[^/@ ]*@#//***@#g' <<<"$1"; }

joined() { local IFS=, && echo "$*"; }

# bootstrap ROOT SUITE MIRROR PACKAGE...
bootstrap() {
    local root=$1 suite=$2 mirror=$3 log=$1.log
    say "debootstrap of $suite from $(masked "$mirror")"
    rm -rf --one-file-system "$root"
    debootstrap --force-check-gpg --variant=minbase --include="$(joined "${@:4}")" \
        "$suite" "$root" "$mirror" >"$log" 2>&1 && return
    say "failed; its last lines:"
    masked "$(tail --lines=5 "$log")" >&2
    return 1
}

bootstrap_from_any() {
    local mirror mirrors
    mapfile -t mirrors < <("$HERE/mirrors.sh" "$2")
    for mirror in "${mirrors[@]}"; do
        bootstrap "$1" "$2" "$mirror" "${@:3}" && return
    done
    die "no mirror gave a base system: check the network and the apt sources of this machine"
}

# debootstrap copies the host's name and resolver into the new root.
forget_host() { rm -f "$1/etc/hostname" "$1/etc/resolv.conf"; }

finish() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$1" /bin/sh -c "$(<"$HERE/inside.sh")" base-rootfs >&2
    forget_host "$1"
}

main() {
    local root
    need_suite_and_packages "$@"
    need_debootstrap
    WORK=$(mktemp -d)
    trap 'rm -rf --one-file-system "$WORK"' EXIT
    root=$WORK/root
    bootstrap_from_any "$root" "$@"
    finish "$root"
    tar --directory="$root" --numeric-owner --one-file-system --create .
}

main "$@"
