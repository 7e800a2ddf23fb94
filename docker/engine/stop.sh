#!/usr/bin/env bash
# Stop the Docker engine that start.sh started, and no other.
#
# Usage: docker/engine/stop.sh [--help]
#
# Finds the engine by its pid file. Its images stay in the data root, or in the file that was mounted there.
#
# Environment:
#   A11Y_BENCH_DOCKER_ROOT   images and containers           (/var/lib/a11y-bench-docker)
#   A11Y_BENCH_DOCKER_RUN    where start.sh put dockerd.pid  (/run/a11y-bench-docker)
#   A11Y_BENCH_DOCKER_WAIT   seconds to wait for its end     (30)
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

WAIT=${A11Y_BENCH_DOCKER_WAIT:-30}

main() {
    local pid deadline=$((SECONDS + WAIT))
    no_arguments "$@"
    if ! pid=$(engine_pid); then
        say "nothing to stop: no engine of start.sh runs (looked at $PID_FILE)"
        return
    fi
    kill "$pid" || die "may not stop process $pid: run this as the user that ran start.sh"
    while engine_pid >/dev/null; do
        ((SECONDS < deadline)) || die "engine $pid still runs after $WAIT s: see $LOG_FILE"
        sleep 0.2
    done
    if [[ -e $DISK ]] && mountpoint --quiet "$DATA_ROOT"; then
        umount "$DATA_ROOT" || say "$DISK stays mounted at $DATA_ROOT"
    fi
    say "engine $pid stopped"
}

main "$@"
