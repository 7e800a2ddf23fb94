#!/usr/bin/env bash
# Install Debian's headless Chromium, for the page track, the assessment, and tests that look at the report.
#
# Usage: docker/browser/install.sh [--help]
#
# Does nothing when A11Y_BENCH_BROWSER names a browser or one is on the PATH. Otherwise needs root and apt-get.
set -euo pipefail
# shellcheck source=../engine/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../engine/common.sh"

NAMES="chromium-headless-shell chromium google-chrome chrome"

already_there() {
    local name
    for name in "${A11Y_BENCH_BROWSER:-}" $NAMES; do
        [ -z "$name" ] || ! command -v "$name" >/dev/null || return 0
    done
    return 1
}

main() {
    no_arguments "$@"
    if already_there; then
        say "nothing to do: a browser is there"
        return
    fi
    command -v apt-get >/dev/null || die "no apt-get here: install chromium, or name a browser in A11Y_BENCH_BROWSER"
    need_root "installing the browser"
    apt_install chromium-headless-shell
    say "installed: $(chromium-headless-shell --version)"
}

main "$@"
