#!/usr/bin/env bash
# The checks that need no test run. Sourced by ./run; the cheap ones come first.

# Set by tools/run/setup.sh.
venv=${venv-build/venv}

checks=(rules layers format shell link budgets mingw printed coverage tidy)

check_rules() {
    step check-rules "Checking the house rules" "$venv/bin/python" tools/tidy/tidy.py
}

check_layers() {
    step check-layers "Checking the layers" "$venv/bin/python" tools/tidy/check_layers.py
}

check_format() {
    step check-format "Checking the format of C++" check_format_of_all
}

# Names the files only: the tool that mends them says the rest.
check_format_of_all() {
    local bad
    bad=$(tracked_files '*.h' '*.cpp' '*.c' ':!spec/printed' |
        xargs -0 --no-run-if-empty clang-format-19 --dry-run 2>&1 |
        sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u)
    [ -z "$bad" ] || {
        printf 'Format these with clang-format-19 -i:\n%s\n' "$bad"
        return 1
    }
}

check_shell() {
    step check-shell "Checking shell scripts" \
        shellcheck --external-sources run .ci/run tools/run/*.sh tests/*.sh
}

# Each header of a module compiles alone, with g++. Only by name: clang-tidy sees the same.
check_headers() {
    build dev all_verify_interface_header_sets
}

# The freestanding modules ask the system for nothing but what tests/link/allowed.txt lists.
check_link() {
    build freestanding virtaccel_link_test
    step check-link "Checking what the portable modules link with" \
        "$venv/bin/python" tests/link/check_link.py build/freestanding
}

check_budgets() {
    build freestanding virtaccel_budgets_bench
    step check-budgets "Comparing what operations take with their budgets" compare_budgets
}

compare_budgets() {
    "$venv/bin/python" tools/budgets/budgets.py build/freestanding/bench_bin/budgets "$@"
}

check_coverage() {
    build coverage virtaccel_freestanding_tests
    step check-coverage "Comparing the lines that tests reach with their floors" compare_coverage
}

compare_coverage() {
    "$venv/bin/python" tools/coverage/coverage.py build/coverage "$@"
}

check_mingw() {
    build mingw all
}

check_printed() {
    build dev virtaccel-print virtaccel-operators
    step check-printed "Checking that the printed files are current" compare_printed
}

compare_printed() {
    build/dev/bin/virtaccel-print --check spec/printed && print_operators check
}

# print_operators print|check: docs/operators.md.
print_operators() {
    build/dev/bin/virtaccel-operators "$1" tools/operators/passed.txt tools/operators/covered.txt \
        docs/operators.md
}

check_tidy() {
    install_python tools/tidy/requirements.txt
    configure tidy
    build tidy virtaccel_generated
    step check-tidy "Running clang-tidy" "$venv/bin/python" tools/tidy/clang_tidy.py build/tidy
}

# tracked_files <pattern>...: what git knows or would add, each ended by a zero byte.
tracked_files() {
    git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard --deduplicate \
        -- "$@"
}

# run_checks [name]...: all of them where none is named. One that fails does not hide the next.
run_checks() {
    local name failed=()
    for name in "${@:-${checks[@]}}"; do
        declare -F "check_$name" >/dev/null ||
            fail "There is no check ($name): there are ${checks[*]}."
        ("check_$name") || failed+=("$name")
    done
    [ ${#failed[@]} -eq 0 ] ||
        fail "These checks fail (${failed[*]}): mend what they name above, each alone with" \
            "./run check NAME."
    say "All checks pass (${*:-${checks[*]}})."
}
