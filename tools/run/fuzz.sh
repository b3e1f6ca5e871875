#!/usr/bin/env bash
# Runs the fuzzers that ./run fuzz has built. Sourced by ./run.

# run_fuzzers <name part> <seconds>: each matching fuzzer for that long. What it finds stays in
# build/fuzz/crashes/, what it learns in build/fuzz/corpus/.
run_fuzzers() {
    local part=$1 seconds=$2 fuzzer name found=no
    for fuzzer in build/fuzz/fuzz_bin/*"$part"*; do
        [ -x "$fuzzer" ] || continue
        found=yes
        name=$(basename "$fuzzer")
        mkdir -p "build/fuzz/corpus/$name" build/fuzz/crashes
        step "fuzz-$name" "Fuzzing ($name, $seconds s)" "$fuzzer" "-max_total_time=$seconds" \
            "-artifact_prefix=build/fuzz/crashes/$name-" "build/fuzz/corpus/$name"
    done
    [ "$found" = yes ] || fail "No fuzzer has ($part) in its name: build/fuzz/fuzz_bin/ holds them."
}
