# shellcheck shell=bash
# What the scripts of docker/engine and docker/base share. Sourced, never run; reads the environment, changes nothing.

# shellcheck disable=SC2034  # read by the scripts that source this file
DATA_ROOT=${A11Y_BENCH_DOCKER_ROOT:-/var/lib/a11y-bench-docker}
# shellcheck disable=SC2034
DISK=$DATA_ROOT.disk
RUN_DIR=${A11Y_BENCH_DOCKER_RUN:-/run/a11y-bench-docker}
PID_FILE=$RUN_DIR/dockerd.pid
# shellcheck disable=SC2034
LOG_FILE=$RUN_DIR/dockerd.log

# One progress line. Goes to stderr, since stdout carries results.
say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

# The comment block at the top of the running script is its help text.
usage() { sed -n '2,/^[^#]\|^$/ s/^# \{0,1\}//p' "$0"; }

# Handles --help and refuses every other argument, for scripts that take none.
no_arguments() {
    case ${1:-} in
    '') ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && die "unknown argument '$1'" ;;
    esac
}

# For scripts that take a Debian suite and packages: handles --help and refuses anything shorter.
need_suite_and_packages() {
    case ${1:-} in -h | --help) usage && exit 0 ;; esac
    (($# >= 2)) || { usage >&2 && die "name a Debian suite and at least one package"; }
}

need_root() { ((EUID == 0)) || die "$1 needs root: run it as root, for example with sudo"; }

# Installs Debian packages; shows what apt said only when it failed.
apt_install() {
    local output
    say "installing $*"
    output=$(apt-get update --quiet=2 2>&1 && DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet=2 --no-install-recommends "$@" 2>&1) && return
    tail --lines=20 <<<"$output" >&2
    die "apt-get could not install $*"
}

# Does an engine answer where the docker client looks for one (DOCKER_HOST, else the current context)?
engine_answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# The process id of the engine that start.sh started; fails when it is gone or the id now belongs to another process.
engine_pid() {
    local pid
    pid=$(cat "$PID_FILE" 2>/dev/null) || return 1
    grep --quiet --null-data --fixed-strings --line-regexp -- "--pidfile=$PID_FILE" "/proc/$pid/cmdline" 2>/dev/null || return 1
    echo "$pid"
}
