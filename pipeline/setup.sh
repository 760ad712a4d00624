#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what building and testing need, on Debian 12. Does nothing, quickly, where all of it is there.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: pipeline/setup.sh [--build-only] [--list]

Installs the Debian packages that Meridian is built and tested with. Asks nothing; needs root or sudo only if a package
is missing.

  --build-only  only what building the tools, the runtime and the samples needs
  --list        print the packages that are missing, install nothing
  --help        print this text
EOF
}

build=(g++ cmake ninja-build flatbuffers-compiler libflatbuffers-dev libtinyxml2-dev libcli11-dev libtbb-dev
       libxxhash-dev libzstd-dev libhwy-dev
       libpng-dev)                                                     # pictures of the sample fly_through
test=(ccache git python3 libgtest-dev
      libbenchmark-dev libpugixml-dev libboost-dev libbullet-dev libembree-dev   # peers in benchmarks
      clang libclang-rt-14-dev clang-tidy clang-format                 # fuzzers, checks
      make                                                             # install tests use it beside Ninja
      xz-utils)                                                        # oneTBB's sources, for ThreadSanitizer
node=(nodejs npm)                                                      # JavaScript reads our files, in tests

with_tests=yes list=no
for argument; do
  case $argument in
    --build-only) with_tests=no ;;
    --list) list=yes ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

wanted=("${build[@]}")
if [ $with_tests = yes ]; then
  wanted+=("${test[@]}")
  # A Node from elsewhere will do, and Debian's would clash with it.
  command -v node >/dev/null || wanted+=("${node[@]}")
fi

command -v dpkg-query >/dev/null || {
  echo "setup: this is no Debian system; install the equivalents of: ${wanted[*]}" >&2
  exit 1
}
installed=$(dpkg-query --show --showformat '${binary:Package} ${db:Status-Status}\n' |
            sed -n 's/^\([^: ]*\)\(:[^ ]*\)\? installed$/\1/p')
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done

if [ $list = yes ]; then
  [ ${#missing[@]} = 0 ] || printf '%s\n' "${missing[@]}"
  exit 0
fi
if [ ${#missing[@]} = 0 ]; then
  echo "setup: all ${#wanted[@]} packages are there"
  exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: needs root or sudo to install: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
# Package lists may be old or absent; refreshing them costs little beside an install.
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
echo "setup: done"
