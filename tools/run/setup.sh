#!/usr/bin/env bash
# What a bare Debian bookworm lacks, installed only where it is missing. Sourced by ./run.

packages_build=(
    ccache cmake g++ ninja-build
    flatbuffers-compiler libbenchmark-dev libcli11-dev libdnnl-dev libflatbuffers-dev libfmt-dev
    libgtest-dev libhwy-dev libpng-dev nlohmann-json3-dev
    ca-certificates python3 python3-venv
)
packages_test=(graphviz)
packages_budgets=(valgrind)
packages_check=(clang-19 clang-format-19 g++-mingw-w64-x86-64-posix git shellcheck)
packages_fuzz=(clang-19 libclang-rt-19-dev)

# The private Python that scripts run in.
venv=build/venv
# Another, for what real models are quantised with and compared with.
models_venv=build/models-venv

# install_packages <log name> <package>...: asks nothing of the network when all of them are there.
install_packages() {
    local name=$1 missing
    shift
    command -v dpkg-query >/dev/null ||
        fail "This machine has no dpkg-query, so it is no Debian: install the packages ($*) in" \
            "your own way and build with cmake --preset release."
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "The packages ($missing) are missing and this user (uid $(id -u)) may not" \
                "install them: run apt-get install $missing as root."
        as_root=(sudo)
        sudo -v || fail "sudo refuses this user: run apt-get install $missing as root."
    fi
    # Words are split on purpose: one argument a package.
    # shellcheck disable=SC2086
    step "$name" "Installing Debian packages ($(wc -w <<<"$missing") missing)" \
        apt_install "${as_root[@]}" -- $missing
}

# missing_packages <package>...: those that dpkg does not call installed, on one line.
missing_packages() {
    local installed package missing=()
    # dpkg-query fails when it has never heard of one of them; what it knows of the others stands.
    # shellcheck disable=SC2016
    installed=$(dpkg-query -W -f='${Package}=${db:Status-Status}\n' "$@" 2>/dev/null || true)
    for package in "$@"; do
        grep -qxF "$package=installed" <<<"$installed" || missing+=("$package")
    done
    printf '%s' "${missing[*]}"
}

# apt_install [sudo] -- <package>...: a source that cannot be reached is no failure as long as the
# packages come from another one.
apt_install() {
    local as_root=()
    while [ "$1" != -- ]; do
        as_root+=("$1")
        shift
    done
    shift
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
        apt-get -o DPkg::Lock::Timeout=600)
    "${apt[@]}" update || true
    "${apt[@]}" install -y --no-install-recommends "$@"
}

# install_venv [folder]: a private Python; it holds pip and nothing else.
install_venv() {
    local folder=${1-$venv}
    [ -x "$folder/bin/pip" ] || step venv "Making a private Python environment" make_venv "$folder"
}

make_venv() {
    rm -rf "$1"
    python3 -m venv "$1"
}

# install_python <requirements file> [environment]: again only when the file has changed.
install_python() {
    local requirements=$1 folder=${2-$venv}
    local stamp=$folder/installed-${requirements//\//-}
    cmp -s "$requirements" "$stamp" && return
    step pip "Installing Python packages ($requirements)" \
        "$folder/bin/pip" install --disable-pip-version-check --requirement "$requirements"
    cp "$requirements" "$stamp"
}

setup_build() {
    install_packages apt-build "${packages_build[@]}"
    install_venv
}

setup_test() {
    install_packages apt-test "${packages_build[@]}" "${packages_test[@]}"
    install_venv
}

setup_models() {
    setup_build
    install_python tools/demo/requirements.txt
    install_venv "$models_venv"
    install_python tools/models/requirements.txt "$models_venv"
}

setup_check() {
    install_packages apt-check "${packages_build[@]}" "${packages_check[@]}" \
        "${packages_budgets[@]}"
    install_venv
}

setup_budgets() {
    install_packages apt-budgets "${packages_build[@]}" "${packages_budgets[@]}"
    install_venv
}

setup_fuzz() {
    install_packages apt-fuzz "${packages_build[@]}" "${packages_fuzz[@]}"
    install_venv
}
