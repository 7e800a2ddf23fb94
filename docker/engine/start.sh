#!/usr/bin/env bash
# Start a Docker engine on a machine without an init system.
#
# Usage: docker/engine/start.sh [--help]
#
# An engine that answers already is used and left alone. Otherwise needs root; the engine
# gets a data root, pid file and log of its own, and stop.sh stops it.
#
# Environment:
#   DOCKER_HOST              unix:// socket to serve         (unix:///var/run/docker.sock)
#   A11Y_BENCH_DOCKER_ROOT   images and containers           (/var/lib/a11y-bench-docker)
#   A11Y_BENCH_DOCKER_DISK   keep these in a file of this size, such as 60G, with a file system of its own:
#                            ROOT.disk, mounted at ROOT      (none: they are kept in the folder itself)
#   A11Y_BENCH_DOCKER_RUN    dockerd.pid, dockerd.log, state (/run/a11y-bench-docker)
#   A11Y_BENCH_DOCKER_ARGS   more arguments for dockerd      (none)
#   A11Y_BENCH_DOCKER_WAIT   seconds to wait for the engine  (30)
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

WAIT=${A11Y_BENCH_DOCKER_WAIT:-30}

# Browsers and watchers of a test suite hold many files open, and containers get no more than their engine:
# 1,048,576 where root may have that, else as many as this shell may.
raise_open_files() { ulimit -n 1048576 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"; }

make_disk() {
    truncate --size="$A11Y_BENCH_DOCKER_DISK" "$DISK.new" && mkfs.ext4 -q -F "$DISK.new" && mv "$DISK.new" "$DISK"
}

# The file takes space only as it fills. One that is there already is used as it is.
mount_disk() {
    if mountpoint --quiet "$DATA_ROOT"; then return; fi
    [[ -e $DISK || -z $(ls -A "$DATA_ROOT") ]] || die "$DATA_ROOT is not empty: empty it, or unset A11Y_BENCH_DOCKER_DISK"
    [[ -e $DISK ]] || make_disk || { rm -f "$DISK.new" && die "cannot make $DISK of $A11Y_BENCH_DOCKER_DISK"; }
    mount -o loop,discard "$DISK" "$DATA_ROOT" || die "cannot mount $DISK at $DATA_ROOT: unset A11Y_BENCH_DOCKER_DISK"
}

# $! is then the process id of dockerd, which outlives this script and does not hold the lock (descriptor 9).
launch() {
    local extra
    read -ra extra <<<"${A11Y_BENCH_DOCKER_ARGS:-}"
    setsid dockerd --host="$DOCKER_HOST" --data-root="$DATA_ROOT" --exec-root="$RUN_DIR/exec" \
        --pidfile="$PID_FILE" "${extra[@]}" </dev/null >"$LOG_FILE" 2>&1 9>&- &
}

# Waits until the engine answers; fails when process $1 ends before, or after WAIT seconds.
wait_until_up() {
    local deadline=$((SECONDS + WAIT))
    until engine_answers; do
        { kill -0 "$1" 2>/dev/null && ((SECONDS < deadline)); } || return 1
        sleep 0.2
    done
}

give_up() {
    kill "$1" 2>/dev/null || true
    say "the last lines of $LOG_FILE:"
    tail --lines=20 "$LOG_FILE" >&2
    die "dockerd did not come up (waited at most $WAIT s)"
}

left_alone() { say "an engine answers already (version $(docker version --format '{{.Server.Version}}')): left alone"; }

main() {
    no_arguments "$@"
    if engine_answers; then left_alone && return; fi
    export DOCKER_HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}
    [[ $DOCKER_HOST == unix://* ]] || die "no engine answers at $DOCKER_HOST, and only a unix:// socket can be started"
    command -v dockerd >/dev/null || die "dockerd is not installed: run docker/engine/install.sh"
    need_root "starting the engine"

    mkdir -p "$RUN_DIR" "$DATA_ROOT"
    exec 9>"$RUN_DIR/lock"
    flock --timeout "$WAIT" 9 || die "another start.sh has been at work for $WAIT s: see $LOG_FILE"
    if engine_answers; then left_alone && return; fi
    engine_pid >/dev/null || rm -f "$PID_FILE"
    [[ -z ${A11Y_BENCH_DOCKER_DISK:-} ]] || mount_disk
    raise_open_files
    launch
    wait_until_up $! || give_up $!
    say "engine up at $DOCKER_HOST (pid $(engine_pid), log $LOG_FILE, data $DATA_ROOT)"
}

main "$@"
