#!/usr/bin/env bash
# Jobs: commands of the project that run independently of any connection. Called in the project's folder.
#
#   job.sh run JOB COMMAND...   runs the command to its end; JOB is a folder of .remote/jobs
#   job.sh list                 a line for each job: name, state, exit code, seconds, command
#   job.sh stop JOB             asks it to end, like Ctrl-C pressed twice; kills nothing
#
# A running job holds a lock on its folder, so a reused process id is never mistaken for it. Its folder has the
# command, the log, and at the end the exit code. Keys are read from .secrets.env if that was sent.
set -euo pipefail
JOBS=.remote/jobs

run() {
    local job=$1 code=0
    shift
    exec 9>"$job/lock"
    flock --timeout 20 9 || exit 1 # listing jobs takes the lock for a moment
    trap '' HUP
    echo $$ >"$job/pid"
    if [[ -e .secrets.env ]]; then
        set -a
        # shellcheck source=/dev/null
        source ./.secrets.env
        set +a
    fi
    export A11Y_BENCH_CLONES=${A11Y_BENCH_CLONES:-$PWD/clones}
    trap : TERM # the command gets SIGTERM, too, and its exit code is that of the job
    "$@" </dev/null >>"$job/log" 2>&1 9>&- || code=$?
    echo "$code" >"$job/code.new"
    mv "$job/code.new" "$job/code"
}

state() {
    if [[ -e $1/code ]]; then echo ended
    elif [[ -e $1/lock ]] && ! flock --nonblock "$1/lock" true; then echo running
    else echo lost; fi
}

list() {
    local job state last
    for job in "$JOBS"/*/; do
        [[ -e $job/command ]] || continue
        state=$(state "$job") last=$(date +%s)
        [[ $state == running ]] || last=$(stat --format=%Y "$job/log" 2>/dev/null || stat --format=%Y "$job/command")
        printf '%s\t%s\t%s\t%s\t%s\n' "$(basename "$job")" "$state" "$(cat "$job/code" 2>/dev/null || true)" \
            "$((last - $(stat --format=%Y "$job/command")))" "$(cat "$job/command")"
    done
}

# Signals the whole session of the job, since not every program passes the signal on to those that it starts.
stop() {
    local pid
    [[ $(state "$1") == running ]] || return 0
    pid=$(cat "$1/pid")
    kill -TERM -- "-$pid"
}

"$@"
