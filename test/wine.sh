#!/usr/bin/env bash
# Runs the executable for Windows and its MSI under Wine: commands, sandbox, service,
# and installation, repetition, upgrade, refusal, removal and upgrades that fail. The
# transcript is dist/wine/transcript.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

./test/tools.sh wine64=/usr/lib/wine/wine64 wine=wine wine=wineserver gcc-mingw-w64-x86-64=x86_64-w64-mingw32-gcc wixl=wixl msitools=msibuild msitools=msiinfo faketime=faketime curl=curl

out=$PWD/dist/wine
rm -rf "$out"
mkdir -p "$out/tmp"
export WINEPREFIX=$out/prefix WINEDEBUG=-all WINEARCH=win64 DISPLAY=
drive=$WINEPREFIX/drive_c
program="$drive/Program Files/adgateway/adgateway.exe"
data=$drive/ProgramData/adgateway
sandbox=
finish() {
    [ -z "$sandbox" ] || kill "$sandbox" 2>/dev/null || true
    wineserver -k 2>/dev/null || true
}
trap finish EXIT
exec > >(tee "$out/transcript.txt") 2>&1

fail() { echo "FAILED: $*"; exit 1; }
title() { printf '\n== %s\n' "$*"; }

# ends CODE COMMAND: runs a command, shows what it said, and requires its exit code.
ends() {
    local want=$1 code=0
    shift
    echo "> $*"
    said=$(timeout 120 wine "$@" 2>&1 | tr -d '\r'; exit "${PIPESTATUS[0]}") || code=$?
    echo "$said"
    [ "$code" = "$want" ] || fail "it ended with $code, not $want"
}
gateway() { local want=$1; shift; ends "$want" 'C:\Program Files\adgateway\adgateway.exe' "$@"; }
# installer CODE ...: msiexec, whose exit code is modulo 256: 1603 is 67, and 1627, which
# Wine gives for a failed action, is 91.
installer() { local want=$1; shift; ends "$want" msiexec /qn "$@"; }
says() { [[ $said == *"$1"* ]] || fail "it does not say: $1"; }
key() { local text; text=$(wine reg query "$@" 2>/dev/null) && tr -d '\r' <<<"$text"; }
registered() { key 'HKLM\System\CurrentControlSet\Services\adgateway'; }
property() { msiinfo export "$1" Property | tr -d '\r' | awk -F '\t' -v name="$2" '$1 == name {print $2}'; }

title "Two versions of the MSI, each built in the form of a release"
export SOURCE_DATE_EPOCH=1700000000
for version in v1.0.0 v1.1.0; do
    go run ./cmd/release -version $version -msi -only windows/amd64 -out "$out/tmp"
done
old=$out/tmp/adgateway-v1.0.0-windows-amd64.msi new=$out/tmp/adgateway-v1.1.0-windows-amd64.msi
go test -count=1 ./cmd/release -run '^TestTablesOfThePackage$' -package "$old"

title "Wine"
wine wineboot -i 2>/dev/null
wine winecfg -v win10 2>/dev/null # the default of Wine 8 is Windows 7
# Programs of Go ask this library for random numbers. Wine 8 does not have it.
cat > "$out/tmp/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
x86_64-w64-mingw32-gcc -shared -O2 -s -o "$drive/windows/system32/bcryptprimitives.dll" "$out/tmp/prng.c" -ladvapi32
wine --version

title "A domain controller is refused, and nothing is installed"
kind() { wine reg add 'HKLM\System\CurrentControlSet\Control\ProductOptions' /v ProductType /d "$1" /f >/dev/null 2>&1; wineserver -k || true; }
kind LanmanNT
installer 67 /i "$old"
[ ! -e "$program" ] || fail "the executable is left behind"
kind ServerNT

title "First installation: files, PATH, event source, service; nothing is started"
installer 0 /i "$old" 'SERVICEACCOUNT=LocalSystem' ADDTOPATH=1
[ -s "$program" ] || fail "the executable is missing"
key 'HKLM\System\CurrentControlSet\Control\Session Manager\Environment' /v PATH | grep -qi 'Program Files.adgateway' || fail "PATH does not have the folder"
key 'HKLM\System\CurrentControlSet\Services\EventLog\Application\adgateway' | grep -q EventCreate.exe || fail "the event source is missing"
gateway 0 service status
says "stopped"
registered | grep -q LocalSystem || fail "the service does not run as the account of the property"

title "Commands"
gateway 0 version
gateway 0 config init
gateway 0 config check
gateway 0 token create admin --scope '*' --expires 30d
gateway 0 token list
gateway 0 service start
gateway 0 service status
says "running"

title "The same installation once more: the account stays, the service runs again"
installer 0 /i "$old" REINSTALL=ALL REINSTALLMODE=omus
registered | grep -q LocalSystem || fail "the account was lost"
gateway 0 service status
says "running"

title "Upgrade without properties: account and data stay, the service runs again"
sum=$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")
installer 0 /i "$new"
[ "$sum" = "$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")" ] || fail "the upgrade changed settings or credentials"
registered | grep -q LocalSystem || fail "the upgrade lost the account"
gateway 0 version
says "v1.1.0"
gateway 0 service status
says "running"
[ ! -e "$data/service.json" ] || fail "service.json is left behind"
gateway 0 service stop
gateway 0 audit verify

title "A downgrade is refused"
installer 67 /i "$old"
gateway 0 version
says "v1.1.0"

title "Sandbox"
wine 'C:\Program Files\adgateway\adgateway.exe' sandbox --listen 127.0.0.1:18080 --token 0123456789abcdef0123456789abcdef >"$out/tmp/sandbox.log" 2>&1 &
sandbox=$!
for _ in $(seq 120); do curl -sf http://127.0.0.1:18080/healthz >/dev/null && break; sleep 0.5; done
curl -sf -H 'Auth-Token: Bearer 0123456789abcdef0123456789abcdef' http://127.0.0.1:18080/api/OU/All >"$out/tmp/units.json" || fail "the sandbox does not answer"
head -c 200 "$out/tmp/units.json"
echo
kill $sandbox
sandbox=

title "Removal: settings and data stay"
installer 0 /x "$new"
[ ! -e "$program" ] || fail "the executable is left behind"
[ -z "$(registered)" ] || fail "the service is left behind"
[ -z "$(key 'HKLM\System\CurrentControlSet\Services\EventLog\Application\adgateway')" ] || fail "the event source is left behind"
[ -s "$data/adgateway.yaml" ] && [ -s "$data/credentials.json" ] && [ -s "$data/service.json" ] || fail "settings or data are gone"

title "Settings with mistakes: the installation is rolled back"
printf 'http:\n  lisen: 127.0.0.1:8080\n' > "$data/adgateway.yaml"
installer 91 /i "$new"
[ ! -e "$program" ] || fail "the executable is left behind"
[ -z "$(registered)" ] || fail "a service is left behind"

title "Without mistakes the service comes back with its account"
rm "$data/adgateway.yaml"
installer 0 /i "$old"
registered | grep -q LocalSystem || fail "the account of the removed service was not kept"

title "An upgrade fails while the service runs: nothing of settings and data is lost"
gateway 0 config init
gateway 0 service start
cp -r "$(dirname "$program")" "$out/tmp/before"
cp "$data/adgateway.yaml" "$out/tmp/valid.yaml"
printf 'http:\n  lisen: 127.0.0.1:8080\n' > "$data/adgateway.yaml"
sum=$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")
installer 91 /i "$new"
[ "$sum" = "$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")" ] || fail "the failed upgrade changed settings or credentials"
[ -z "$(registered)" ] || fail "the new version's service is left behind"
grep -q '"account": "LocalSystem"' "$data/service.json" && grep -q '"running": true' "$data/service.json" || fail "service.json does not say how the service was"

title "The rollback: Windows puts the old files and the service back, which Wine does not, and runs 'service restore'"
[ -e "$program" ] || cp -r "$out/tmp/before" "$(dirname "$program")"
gateway 0 service restore
grep -q '"account": "LocalSystem"' "$data/service.json" || fail "the account of a service that is gone was forgotten"
rm -r "$(dirname "$program")"

title "With its settings put right, the next upgrade goes through, and the service runs again as before"
cp "$out/tmp/valid.yaml" "$data/adgateway.yaml"
installer 0 /i "$new"
gateway 0 version
says "v1.1.0"
registered | grep -q LocalSystem || fail "the account was lost"
gateway 0 service status
says "running"
gateway 0 audit verify

printf '\nEverything was as it should be under %s.\n' "$(wine --version)"
