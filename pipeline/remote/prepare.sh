#!/usr/bin/env bash
# Make a Debian or Ubuntu server ready for batches: packages, Node, uv, limits, the engine's configuration, folders.
#
# Usage: prepare.sh [--dry-run] [--root DIR] [--folder DIR] [--data-root DIR]
#
#   --dry-run        show what would be done; change nothing
#   --root DIR       write configuration below DIR, and leave this machine's packages, kernel and engine alone
#   --folder DIR     the project's folder (a11y-bench, from the home folder)
#   --data-root DIR  where the engine keeps images and containers (/var/lib/docker)
#
# Changes only what is not right yet, so it can be repeated. Each line of its output is a state (ok, done, would, todo)
# and its subject; `todo` is left to a person. Other keys of the engine's configuration stay as they are. Data are not
# moved from an old data root to a new one.
set -euo pipefail

DRY='' ROOT='' FOLDER=a11y-bench DATA_ROOT=/var/lib/docker
NODE=20 NPM=10 FREE_GB=100
# npm ends with where its log is
NO_REASON='/^npm (ERR!|error) *$/d; /A complete log of this run|_logs\//d'

tell() { printf '%-5s %s\n' "$1" "$2"; }

# Runs a command, or with --dry-run only reports it: do_it WHAT COMMAND... In a function that it runs, `set -e` has no
# effect, so its commands are joined by `&&`.
do_it() {
    local what=$1
    shift
    if [[ $DRY ]]; then tell would "$what"; return; fi
    if "$@" >/dev/null 2>"$ERRORS"; then tell 'done' "$what"; else
        tell todo "$what: $(sed -E "$NO_REASON" "$ERRORS" | tail -n 1)"
    fi
}

have() { command -v "$1" >/dev/null 2>&1; }
as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }

# -- packages -----------------------------------------------------------------------------------------------------
packages() {
    local missing=() pair
    for pair in git:git curl:curl rsync:rsync python3:python3 xz:xz-utils iptables:iptables npm:npm; do
        have "${pair%%:*}" || missing+=("${pair#*:}")
    done
    have dockerd || docker version >/dev/null 2>&1 || missing+=(docker.io)
    [[ -e /etc/ssl/certs/ca-certificates.crt ]] || missing+=(ca-certificates)
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    if ((${#missing[@]} == 0)); then tell ok "packages"; return; fi
    if ! have apt-get; then tell todo "install: ${missing[*]} (no apt-get here)"; return; fi
    do_it "packages: ${missing[*]}" install_packages "${missing[@]}"
}

install_packages() {
    as_root apt-get update --quiet=2 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends "$@"
}

# Whether Python is among the packages that a real run installs first.
python_is_coming() { [[ $DRY ]] && ! have python3; }

python_is() {
    if python_is_coming; then tell would "Python, with the packages"
    elif python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then tell ok "Python"
    else tell todo "Python 3.11 or later (uv python install 3.11, where it may download)"; fi
}

uv_is() {
    if PATH="$HOME/.local/bin:$PATH" have uv; then tell ok "uv"; return; fi
    do_it "uv, in ~/.local" install_uv
}

install_uv() {
    python3 -m venv "$HOME/.local/share/a11y-bench-uv" &&
        "$HOME/.local/share/a11y-bench-uv/bin/pip" install --quiet uv &&
        mkdir -p "$HOME/.local/bin" &&
        ln -sf "$HOME/.local/share/a11y-bench-uv/bin/uv" "$HOME/.local/bin/uv"
}

node_major() { PATH="$HOME/.local/bin:$PATH" node --version 2>/dev/null | sed -nE 's/^v([0-9]+).*/\1/p'; }

node_is() {
    local found
    found=$(node_major) || found=''
    if ((${found:-0} >= NODE)); then tell ok "Node $found"; return; fi
    do_it "Node $NODE, in ~/.local" install_node
}

# Node comes from the npm registry, which has the binaries, too: no other download host is needed.
install_node() {
    local arch=x64 path=$HOME/.local/share/a11y-bench-node
    [[ $(uname -m) != aarch64 ]] || arch=arm64
    mkdir -p "$path" "$HOME/.local/bin" &&
        npm install --loglevel=error --no-audit --no-fund --prefix "$path" "node-linux-$arch@$NODE" "npm@$NPM" &&
        ln -sf "$path/node_modules/node-linux-$arch/bin/node" "$HOME/.local/bin/node" &&
        ln -sf "$path/node_modules/npm/bin/npm-cli.js" "$HOME/.local/bin/npm" &&
        ln -sf "$path/node_modules/npm/bin/npx-cli.js" "$HOME/.local/bin/npx"
}

# -- limits and the engine's configuration --------------------------------------------------------------------------
# write PATH: writes standard input to a file unless the file has this content. Sets CHANGED if it has to be written.
write() {
    local path=$ROOT$1 content
    content=$(cat; echo .)
    CHANGED=''
    if [[ -e $path && "$(cat "$path"; echo .)" == "$content" ]]; then tell ok "$1"; return; fi
    CHANGED=yes
    do_it "$1" put "$path" "${content%.}"
}

put() { as_root mkdir -p "$(dirname "$1")" && printf '%s' "$2" | as_root tee "$1" >/dev/null; }

# Limits of file watchers, for many suites at once, and of open files on the whole machine.
kernel() {
    write /etc/sysctl.d/90-a11y-bench.conf <<'END'
fs.inotify.max_user_watches = 524288
fs.inotify.max_user_instances = 1024
fs.file-max = 2097152
END
    [[ -z $ROOT ]] || return 0
    local setting key value
    for setting in fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024 fs.file-max=2097152; do
        key=${setting%=*} value=${setting#*=}
        if (($(cat "/proc/sys/${key//.//}") >= value)) 2>/dev/null; then tell ok "kernel: $key"
        else do_it "kernel: $key = $value" as_root sysctl --quiet --write "$setting"; fi
    done
}

open_files() {
    write /etc/security/limits.d/90-a11y-bench.conf <<'END'
* soft nofile 1048576
* hard nofile 1048576
root soft nofile 1048576
root hard nofile 1048576
END
}

# The reasons for these settings, since JSON has no comments: overlay2 shares layers; 20 layers are transferred at once;
# browsers and numeric libraries need more than 64 MB of shared memory; containers get the engine's limit of open files;
# logs are cut at 20 MB.
engine_configuration() {
    local merged path=$ROOT/etc/docker/daemon.json
    if python_is_coming; then tell would /etc/docker/daemon.json; return; fi
    if ! merged=$(python3 - "$path" "$DATA_ROOT" <<'END'
import json, pathlib, sys
path, data_root = pathlib.Path(sys.argv[1]), sys.argv[2]
files = {"Name": "nofile", "Hard": 1048576, "Soft": 1048576}
ours = {
    "storage-driver": "overlay2",
    "max-concurrent-downloads": 20,
    "max-concurrent-uploads": 20,
    "default-shm-size": "4g",
    "default-ulimits": {"nofile": files},
    "log-driver": "json-file",
    "log-opts": {"max-size": "20m", "max-file": "1"},
}
text = path.read_text() if path.exists() else ""
there = json.loads(text) if text.strip() else {}
if not isinstance(there, dict):
    sys.exit("no JSON object")
if data_root != "/var/lib/docker" or "data-root" not in there:
    ours["data-root"] = data_root
print(json.dumps({**there, **ours}, indent=4, sort_keys=True))
END
    ); then
        tell todo "/etc/docker/daemon.json: it is not JSON; correct or move it"
        return
    fi
    write /etc/docker/daemon.json <<<"$merged"
    local json=$CHANGED
    write /etc/systemd/system/docker.service.d/90-a11y-bench.conf <<'END'
[Service]
LimitNOFILE=1048576
END
    [[ ! $json && ! $CHANGED ]] || RESTART=yes
}

# A running engine is restarted only if no container runs in it.
engine() {
    [[ -z $ROOT ]] || return 0
    local error
    if ! error=$(docker version 2>&1 >/dev/null); then
        if [[ $error == *'permission denied'* ]]; then
            tell todo "this user may not use the engine: sudo usermod -aG docker $(id -un) (it then has root's rights)"
        elif [[ -d /run/systemd/system ]]; then do_it "the engine starts" as_root systemctl enable --now docker
        else tell todo "start the engine: just engine-start"; fi
    elif [[ ! $RESTART ]]; then tell ok "the engine answers"
    elif [[ $(docker ps --quiet | wc -l) != 0 ]]; then tell todo "containers run: start the engine again when they ended"
    elif [[ -d /run/systemd/system ]]; then do_it "the engine starts again" restart_engine
    else tell todo "start the engine again: just engine-stop, just engine-start"; fi
}

restart_engine() { as_root systemctl daemon-reload && as_root systemctl restart docker; }

# -- disk -----------------------------------------------------------------------------------------------------------
folders() {
    local folder
    for folder in "$FOLDER" "$FOLDER/data" "$FOLDER/clones" "$FOLDER/.remote/jobs"; do
        if [[ -d $folder ]]; then tell ok "folder $folder"; else do_it "folder $folder" mkdir -p "$folder"; fi
    done
}

# Layers need a file system with a journal and d_type; the space suffices for a few hundred environments.
disk() {
    local path=$DATA_ROOT kind free
    while [[ ! -e $path ]]; do path=$(dirname "$path"); done
    kind=$(stat --file-system --format=%T "$path")
    free=$(($(stat --file-system --format='%a*%S' "$path") / 1024 ** 3))
    if ((free >= FREE_GB)); then tell ok "disk: $free GB free ($kind) for $DATA_ROOT"
    else tell todo "disk: $free GB free ($kind) for $DATA_ROOT; 0.1 to 2 GB for each environment, $FREE_GB GB for a batch"; fi
    [[ $kind != nfs && $kind != overlayfs ]] || tell todo "disk: overlay2 needs a local file system, not $kind (--data-root)"
}

main() {
    while (($#)); do
        case $1 in
        --dry-run) DRY=yes ;;
        --root) ROOT=${2%/} && shift ;;
        --folder) FOLDER=$2 && shift ;;
        --data-root) DATA_ROOT=$2 && shift ;;
        *) echo "unknown argument '$1'" >&2 && exit 2 ;;
        esac
        shift
    done
    ERRORS=$(mktemp) RESTART='' CHANGED=''
    trap 'rm -f "$ERRORS"' EXIT
    [[ $ROOT ]] || packages
    python_is
    [[ $ROOT ]] || { node_is; uv_is; }
    kernel
    open_files
    engine_configuration
    engine
    folders
    disk
}

main "$@"
