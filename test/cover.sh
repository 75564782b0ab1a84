#!/usr/bin/env bash
# Prints which share of the statements in the sandbox's engine and in the parser is covered by the tests that
# run scripts. The profile is left in dist/cover.out. Statements that run only in stand-in processes are not
# counted.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p dist
go test -timeout 60m -vet=off -count=1 -coverpkg=./ps/sandbox/engine/...,./ps/syntax -coverprofile=dist/cover.out \
    ./test/... ./cmd/adgateway/... > dist/cover.log || { cat dist/cover.log; exit 1; }
# Each test binary lists every block. A block is covered if any of them has entered it.
awk '
    /^mode:/ { next }
    { size[$1] = $2; if ($3 > 0) entered[$1] = 1 }
    END {
        for (block in size) {
            package = block; sub(/\/[^\/]*$/, "", package)
            all[package] += size[block]; total += size[block]
            if (block in entered) { run[package] += size[block]; sum += size[block] }
        }
        for (package in all)
            printf "%5.1f %%  %6d of %6d statements  %s\n", 100 * run[package] / all[package], run[package], all[package], package | "sort -k6"
        close("sort -k6")
        printf "%5.1f %%  %6d of %6d statements  in all\n", 100 * sum / total, sum, total
    }' dist/cover.out
