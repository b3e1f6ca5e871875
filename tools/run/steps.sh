#!/usr/bin/env bash
# Long commands as steps: one line each, the whole output in build/log/. Sourced by ./run.
# Steps speak on standard error, so that what a command prints for other programs stays clean.

log_folder=build/log

# say <text>...: one line for a person.
say() {
    printf '%s\n' "$*" >&2
}

# fail <sentence>...: what is wrong and what to do, and the end of the run.
fail() {
    printf 'run: %s\n' "$*" >&2
    exit 1
}

# step <log name> <what is being done> <command> [argument]...: runs the command quietly. On a
# terminal the line counts seconds and shows a build's own [done/all]; elsewhere it is written when
# the step ends. A failure shows the end of the log and ends the run.
step() {
    local name=$1 doing=$2 status=0 started=$SECONDS
    shift 2
    local log=$log_folder/$name.log
    mkdir -p "$log_folder"
    : >"$log"
    if [ -t 2 ]; then
        show_progress "$doing" "$log" &
        local progress=$!
        "$@" >"$log" 2>&1 </dev/null || status=$?
        kill "$progress" 2>/dev/null || true
        wait "$progress" 2>/dev/null || true
        printf '\r\033[K' >&2
    else
        "$@" >"$log" 2>&1 </dev/null || status=$?
    fi
    if [ "$status" -eq 0 ]; then
        say "$doing: done ($((SECONDS - started)) s)"
        return
    fi
    tail -n 60 "$log" >&2
    fail "The step ($doing) fails (exit code $status): its last lines are above, all of them in" \
        "$log; mend what they name and run the same command again."
}

# show_progress <what> <log>: redraws one line until it is stopped or the run has ended.
show_progress() {
    local doing=$1 log=$2 started=$SECONDS count
    while kill -0 $$ 2>/dev/null; do
        count=$(tail -c 4096 "$log" | grep -aoE '^\[[0-9]+/[0-9]+\]|^ *[0-9]+/[0-9]+ Test' |
            tail -n 1 || true)
        printf '\r\033[K%s ... %s s %s' "$doing" "$((SECONDS - started))" "$count" >&2
        sleep 0.2
    done
}
