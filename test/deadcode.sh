#!/usr/bin/env bash
# Lists the functions of the module that no command reaches, and fails if there are any. A function is dead if
# neither the Linux nor the Windows build reaches it, or if only one of them reaches it although its package
# has no files for Windows. deadcode.txt lists the allowed functions: tests of several packages use them to
# make key rings, and to run the PowerShell module with another transport; and the manual is generated with the
# table of bounds and the examples of the module. A line of deadcode.txt that is no longer needed is a failure,
# too.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(go tool -n deadcode)
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

unreached() {
    GOOS=$1 "$tool" -f '{{range .Funcs}}{{println .Position .Name}}{{end}}' ./cmd/... | sed '/^$/d' | sort > "$found/$1"
}

unreached linux &
unreached windows
wait $!
{
    comm -12 "$found/linux" "$found/windows" | sed 's/$/ is dead/'
    comm -3 "$found/linux" "$found/windows" | tr -d '\t' | while read -r position name; do
        ls "$(dirname "$position")"/*_windows.go > /dev/null 2>&1 || echo "$position $name is dead on one system"
    done
} > "$found/dead"
sed -E 's/:[0-9]+:[0-9]+ / /; s/ is dead$//' "$found/dead" | sort | diff test/deadcode.txt - && exit
cat "$found/dead"
exit 1
