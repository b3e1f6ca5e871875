#!/usr/bin/env bash
# Runs the fuzzers that ./run fuzz has built: docs/fuzzing.md. Sourced by ./run.

# Set by tools/run/setup.sh and steps.sh.
venv=${venv-build/venv}
log_folder=${log_folder-build/log}

# Not a fuzzer of its own but run like one: device and client against the clean room.
differential=wire_differential

# fuzzer_names <part>: those with that part in their names, one a line.
fuzzer_names() {
    local name
    for name in $(cd build/fuzz/fuzz_bin && ls) "$differential"; do
        [[ $name != *"$1"* ]] || printf '%s\n' "$name"
    done
}

# fuzz_one <name> <seconds>: what it finds stays in build/fuzz/crashes/, what it learns in
# build/fuzz/corpus/.
fuzz_one() {
    local name=$1 seconds=$2 quiet=()
    if [ "$name" = "$differential" ]; then
        "$venv/bin/python" -B tests/wire_differential/wire_differential.py \
            build/fuzz/test_bin/wire_judge --seconds "$seconds" \
            --corpus build/fuzz/seeds/wire_records
        return
    fi
    mkdir -p "build/fuzz/corpus/$name" build/fuzz/crashes
    # This one prints help and complaints all the time.
    [ "$name" != tools_virtaccel_command_line ] || quiet=(-close_fd_mask=3)
    "build/fuzz/fuzz_bin/$name" "-max_total_time=$seconds" -print_final_stats=1 -timeout=30 \
        -rss_limit_mb=2048 "${quiet[@]}" "-artifact_prefix=build/fuzz/crashes/$name-" \
        "build/fuzz/corpus/$name" "build/fuzz/seeds/$name" "tests/regressions/$name"
}

# fuzz_side_by_side <seconds> <name>...: as many at a time as there are processors, each with a log
# of its own.
fuzz_side_by_side() {
    local seconds=$1 jobs name failed=() pids=()
    shift
    jobs=$(nproc)
    while [ $# -ne 0 ]; do
        pids=()
        for name in "${@:1:jobs}"; do
            fuzz_one "$name" "$seconds" >"$log_folder/fuzz-$name.log" 2>&1 &
            pids+=("$!")
        done
        for name in "${@:1:jobs}"; do
            wait "${pids[0]}" || failed+=("$name")
            pids=("${pids[@]:1}")
        done
        shift $(($# < jobs ? $# : jobs))
    done
    [ ${#failed[@]} -eq 0 ] || {
        for name in "${failed[@]}"; do
            tail -n 40 "$log_folder/fuzz-$name.log"
        done
        printf 'These find something (%s): the inputs are in build/fuzz/crashes.\n' "${failed[*]}"
        return 1
    }
}

# fuzz_summary <name>...: what each has done, from its log.
fuzz_summary() {
    local name runs edges
    for name in "$@"; do
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log_folder/fuzz-$name.log")
        edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log_folder/fuzz-$name.log" | tail -n 1)
        if [ -n "$runs" ]; then
            say "  $name: executions $runs, edges $edges"
        else
            say "  $name: $(tail -n 1 "$log_folder/fuzz-$name.log")"
        fi
    done
}

# check_canary <number> <what the report has to say>: broken on purpose, and found within a minute.
check_canary() {
    local program=build/fuzz/canary_bin/canary_$1 log=$log_folder/fuzz-canary-$1.log
    if "$program" -max_total_time=60 "-artifact_prefix=build/fuzz/canary-" >"$log" 2>&1; then
        echo "The canary ($program) is not found in a minute: see $log."
        return 1
    fi
    grep -F -- "$2" "$log" || {
        echo "The canary ($program) is found by somebody else than ($2): see $log."
        return 1
    }
}

check_canaries() {
    check_canary 0 "AddressSanitizer: heap-buffer-overflow" &&
        check_canary 1 "signed integer overflow" &&
        check_canary 2 "bytes < word.size()"
}

# run_fuzzers <name part> <seconds>: each matching fuzzer for that long.
run_fuzzers() {
    local names=()
    mapfile -t names < <(fuzzer_names "$1")
    [ ${#names[@]} -ne 0 ] ||
        fail "No fuzzer has ($1) in its name: build/fuzz/fuzz_bin/ holds them."
    step fuzz-canary "Looking for what is broken on purpose" check_canaries
    step fuzz "Fuzzing (${names[*]}; $2 s each)" fuzz_side_by_side "$2" "${names[@]}"
    fuzz_summary "${names[@]}"
}

# run_fuzzers_within <seconds>: all of them, together in about that time.
run_fuzzers_within() {
    local count each
    count=$(fuzzer_names "" | wc -l)
    each=$(($1 / ((count + $(nproc) - 1) / $(nproc))))
    run_fuzzers "" $((each > 1 ? each : 1))
}
