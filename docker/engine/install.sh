#!/usr/bin/env bash
# Install a Docker engine and its client from Debian's own packages.
#
# Usage: docker/engine/install.sh [--help]
#
# Does nothing when an engine answers already or when dockerd and docker are installed.
# Otherwise needs root and apt-get. Starts nothing: that is start.sh.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

already_there() { engine_answers || { command -v dockerd && command -v docker; } >/dev/null; }

main() {
    no_arguments "$@"
    if already_there; then
        say "nothing to do: a Docker engine is there"
        return
    fi
    command -v apt-get >/dev/null || die "no apt-get here: install Docker by https://docs.docker.com/engine/install/"
    need_root "installing the engine"
    apt_install docker.io iptables
    # From Debian 13 on the client is a package of its own.
    command -v docker >/dev/null || apt_install docker-cli
    say "installed: $(dockerd --version). Next: docker/engine/start.sh"
}

main "$@"
