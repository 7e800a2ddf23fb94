#!/usr/bin/env bash
# Print the package mirrors that may hold a Debian suite, one URL a line, the likeliest first.
#
# Usage: docker/base/mirrors.sh SUITE
#
# These are the mirrors for SUITE in this machine's own apt sources, and Debian's own server
# last. apt reads its sources itself, so both forms count (one-line .list and deb822 .sources).
set -euo pipefail
# shellcheck source=../engine/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../engine/common.sh"

# Asking apt what it would fetch needs neither the network nor earlier lists.
configured() {
    command -v apt-get >/dev/null || return 0
    apt-get update --print-uris 2>/dev/null | sed -nE "s#^'((https?|file):.*)/dists/$1/main/.*#\1#p"
}

main() {
    case ${1:-} in
    -h | --help) usage ;;
    '') usage >&2 && die "name a suite, for example bookworm" ;;
    *) { configured "$1" && echo http://deb.debian.org/debian; } | awk '!seen[$0]++' ;;
    esac
}

main "$@"
