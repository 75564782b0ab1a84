#!/usr/bin/env bash
# Lists the functions of the module that no command reaches, and fails if there
# are any: those that neither the Linux nor the Windows build reaches, and those
# that only one of them reaches in a package without files for Windows. Those in
# deadcode.txt are allowed: the tests of several packages make key rings with them, restart
# a gateway beside its node, and run the PowerShell module with another transport; and the
# manual is made from the table of bounds and from the examples of the module. A line of it
# that is not needed any more fails, too.
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
