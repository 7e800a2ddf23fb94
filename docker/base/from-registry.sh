#!/usr/bin/env bash
# Make the base root filesystem from a Debian image of an image registry. Writes a tar to stdout.
#
# Usage: docker/base/from-registry.sh SUITE PACKAGE... >ROOTFS.tar
#
# Environment:
#   A11Y_BENCH_BASE_UPSTREAM       image to start from              (debian:SUITE-slim)
#   A11Y_BENCH_BASE_PULL_SECONDS   how long pulling it may take     (120)
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../engine/common.sh
source "$HERE/../engine/common.sh"

pull() {
    local seconds=${A11Y_BENCH_BASE_PULL_SECONDS:-120}
    say "pulling $1 (at most $seconds s)"
    timeout "$seconds" docker pull --quiet "$1" >&2 || die "the registry did not give $1"
}

main() {
    local upstream
    need_suite_and_packages "$@"
    upstream=${A11Y_BENCH_BASE_UPSTREAM:-debian:$1-slim}
    pull "$upstream"
    CONTAINER=a11y-bench-base-$$
    trap 'docker rm --force --volumes "$CONTAINER" >/dev/null 2>&1' EXIT
    say "installing ${*:2}"
    docker run --name "$CONTAINER" "$upstream" /bin/sh -c "$(<"$HERE/inside.sh")" base-rootfs "${@:2}" >&2
    docker export "$CONTAINER"
}

main "$@"
