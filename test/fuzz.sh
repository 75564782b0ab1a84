#!/usr/bin/env bash
# Runs every fuzz target of the tree for the given time or number of runs, one on
# each core: test/fuzz.sh 1000x
set -euo pipefail
cd "$(dirname "$0")/.."
export time=${1:-1000x}

targets() {
    for file in $(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do
        for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
            echo "./$(dirname "${file#./}") $target"
        done
    done
}

# one prints what a target said only if it failed: several run at a time.
one() {
    if said=$(go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -parallel 1 "$1" 2>&1); then
        echo "fuzz $1 $2"
    else
        printf 'fuzz %s %s failed:\n%s\n' "$1" "$2" "$said"
        return 1
    fi
}
export -f one

ran=$(targets | wc -l)
[ "$ran" -gt 0 ]
targets | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one
echo "$ran fuzz targets ran, $time each"
