#!/usr/bin/env bash
# Runs every fuzz target of the tree for the given time or number of runs: test/fuzz.sh 1000x
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-1000x}
ran=0
for file in $(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do
    package=./$(dirname "${file#./}")
    for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
        echo "fuzz $package $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
        ran=$((ran + 1))
    done
done
echo "$ran fuzz targets ran, $time each"
[ "$ran" -gt 0 ]
