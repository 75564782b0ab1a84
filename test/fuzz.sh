#!/usr/bin/env bash
# Runs every fuzz target for the given time or number of runs, such as test/fuzz.sh 1000x. Each package is
# built once, and as many packages run at the same time as there are cores.
set -euo pipefail
cd "$(dirname "$0")/.."
export time=${1:-1000x}
built=$(mktemp -d)
export built
trap 'rm -rf "$built"' EXIT

# package fuzzes all targets of a package, one after another. It prints the output of a target only if the
# target failed.
package() {
    local binary said
    binary=$built/${1//\//_}.test
    go test -vet=off -c -fuzz . -o "$binary" "./$1"
    for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$1"/*_test.go); do
        if ! said=$(cd "$1" && "$binary" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" \
            -test.parallel 1 -test.fuzzcachedir "$built/cache/$1" 2>&1); then
            printf 'fuzz %s %s failed:\n%s\n' "$1" "$target" "$said"
            return 1
        fi
        echo "fuzz $1 $target"
    done
}
export -f package

files=$(grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|^\./||')
echo "$files" | xargs -n 1 dirname | sort -u | xargs -P "$(nproc)" -n 1 bash -c 'package "$1"' package
echo "$(echo "$files" | xargs cat | grep -c '^func Fuzz') fuzz targets ran, $time each"
