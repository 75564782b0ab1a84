#!/usr/bin/env bash
# wine.sh: runs the executable for Windows and its MSI under Wine. It tries commands, the sandbox and the
# service, and installs, reinstalls, upgrades and removes the MSI, including upgrades that are refused or
# fail. The transcript is dist/wine/transcript.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

./test/tools.sh wine64=/usr/lib/wine/wine64 wine=wine wine=wineserver gcc-mingw-w64-x86-64=x86_64-w64-mingw32-gcc wixl=wixl msitools=msibuild msitools=msiinfo faketime=faketime curl=curl

out=$PWD/dist/wine
rm -rf "$out"
mkdir -p "$out/tmp"
export WINEPREFIX=$out/prefix WINEDEBUG=-all WINEARCH=win64 DISPLAY=
drive=$WINEPREFIX/drive_c
sandbox=
finish() {
    [ -z "$sandbox" ] || kill "$sandbox" 2>/dev/null || true
    wineserver -k 2>/dev/null || true
}
trap finish EXIT
exec > >(tee "$out/transcript.txt") 2>&1

fail() { echo "FAILED: $*"; exit 1; }
title() { printf '\n== %s\n' "$*"; }

# ends CODE COMMAND: runs a command, prints its output, and requires the exit code.
ends() {
    local want=$1 code=0
    shift
    echo "> $*"
    said=$(timeout 120 wine "$@" 2>&1 | tr -d '\r'; exit "${PIPESTATUS[0]}") || code=$?
    echo "$said"
    [ "$code" = "$want" ] || fail "it ended with $code, not $want"
}
# use NAME: selects the program for the following functions.
use() {
    name=$1
    program="$drive/Program Files/$name/$name.exe" data=$drive/ProgramData/$name
    old=$out/tmp/$name-v1.0.0-windows-amd64.msi new=$out/tmp/$name-v1.1.0-windows-amd64.msi
}
tool() { local want=$1; shift; ends "$want" "C:\\Program Files\\$name\\$name.exe" "$@"; }
# installer CODE ...: runs msiexec, whose exit code is modulo 256. 1603 becomes 67, and 1627, which Wine
# returns for a failed action, becomes 91.
installer() { local want=$1; shift; ends "$want" msiexec /qn "$@"; }
says() { [[ $said == *"$1"* ]] || fail "it does not say: $1"; }
key() { local text; text=$(wine reg query "$@" 2>/dev/null) && tr -d '\r' <<<"$text"; }
# runs: requires that the service is running. It may still be starting.
runs() {
    for _ in {1..60}; do
        tool 0 service status
        [[ $said == *": starting"* ]] || break
    done
    says "running"
}
registered() { key "HKLM\\System\\CurrentControlSet\\Services\\$name"; }
source_of_events() { key "HKLM\\System\\CurrentControlSet\\Services\\EventLog\\Application\\$name"; }
searched() { key 'HKLM\System\CurrentControlSet\Control\Session Manager\Environment' /v PATH | grep -qi "Program Files.$name\(;\|\\\\\|\$\)"; }

title "Two versions of the MSI, each built in the form of a release"
export SOURCE_DATE_EPOCH=1700000000
for version in v1.0.0 v1.1.0; do
    go run ./cmd/release -version $version -msi -only windows/amd64 -out "$out/tmp"
done
use adgateway
go test -count=1 ./cmd/release -run '^TestTablesOfThePackage$' -package "$old"

title "Wine"
wine wineboot -i 2>/dev/null
wine winecfg -v win10 2>/dev/null # the default of Wine 8 is Windows 7
# Programs written in Go get random numbers from this library, which Wine 8 lacks.
cat > "$out/tmp/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
x86_64-w64-mingw32-gcc -shared -O2 -s -o "$drive/windows/system32/bcryptprimitives.dll" "$out/tmp/prng.c" -ladvapi32
wine --version

kind() { wine reg add 'HKLM\System\CurrentControlSet\Control\ProductOptions' /v ProductType /d "$1" /f >/dev/null 2>&1; wineserver -k || true; }

# shellcheck source=/dev/null
source test/wine/gateway.sh

# shellcheck source=/dev/null
source test/wine/module.sh

# shellcheck source=/dev/null
source test/wine/tickets.sh

printf '\nEverything was as it should be under %s.\n' "$(wine --version)"
