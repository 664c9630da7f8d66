#!/usr/bin/env bash
# Installs into a scratch prefix and builds a program against find_package(memwall).
set -euo pipefail
build=$1 source=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix/usr" >/dev/null
cmake -S "$source" -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix/usr" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$prefix/build" >/dev/null
"$prefix/build/consumer"
"$prefix/build/simulating_consumer"
"$prefix/usr/bin/memwall" --version
grep -q '^complete -F _memwall memwall' "$prefix/usr/share/bash-completion/completions/memwall"
for page in "$prefix/usr/share/man/man1/memwall.1" "$prefix/usr/share/man/man1/memwall-plan.1"; do grep -q '^\.SH NAME' "$page"; done
# The validator says hints on standard output and errors by its status; it is there on most desktops.
desktop="$prefix/usr/share/applications/memwall-explorer.desktop"
if [ -f "$desktop" ] && command -v desktop-file-validate >/dev/null; then [ -z "$(desktop-file-validate "$desktop")" ]; fi
echo "6 passed, 0 failed"
