# The gateway: its commands, sandbox, service and package. Sourced by wine.sh.

use adgateway

title "A domain controller is refused, and nothing is installed"
kind LanmanNT
installer 67 /i "$old"
[ ! -e "$program" ] || fail "the executable is left behind"
kind ServerNT

title "First installation: files, PATH, event source, service; nothing is started"
installer 0 /i "$old" 'SERVICEACCOUNT=LocalSystem' ADDTOPATH=1
[ -s "$program" ] || fail "the executable is missing"
searched || fail "PATH does not have the folder"
source_of_events | grep -q EventCreate.exe || fail "the event source is missing"
tool 0 service status
says "stopped"
registered | grep -q LocalSystem || fail "the service does not run as the account of the property"

title "Commands"
tool 0 version
tool 0 config init
tool 0 config check
tool 0 token create admin --scope '*' --expires 30d
tool 0 token list
tool 0 service start
runs

title "The same installation once more: the account stays, the service runs again"
installer 0 /i "$old" REINSTALL=ALL REINSTALLMODE=omus
registered | grep -q LocalSystem || fail "the account was lost"
runs

title "Upgrade without properties: account and data stay, the service runs again"
sum=$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")
installer 0 /i "$new"
[ "$sum" = "$(sha256sum "$data/adgateway.yaml" "$data/credentials.json")" ] || fail "the upgrade changed settings or credentials"
registered | grep -q LocalSystem || fail "the upgrade lost the account"
tool 0 version
says "v1.1.0"
runs
[ ! -e "$data/service.json" ] || fail "service.json is left behind"
tool 0 service stop
tool 0 audit verify

title "A downgrade is refused"
installer 67 /i "$old"
tool 0 version
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
[ -z "$(source_of_events)" ] || fail "the event source is left behind"
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
tool 0 config init
tool 0 service start
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
tool 0 service restore
grep -q '"account": "LocalSystem"' "$data/service.json" || fail "the account of a service that is gone was forgotten"
rm -r "$(dirname "$program")"

title "With its settings put right, the next upgrade goes through, and the service runs again as before"
cp "$out/tmp/valid.yaml" "$data/adgateway.yaml"
installer 0 /i "$new"
tool 0 version
says "v1.1.0"
registered | grep -q LocalSystem || fail "the account was lost"
runs
tool 0 audit verify
