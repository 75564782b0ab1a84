# The node of the engine: commands, service and package, which are like those of the gateway.
# Sourced by wine.sh.

use adgateway-engine

title "$name: a domain controller is refused, and nothing is installed"
kind LanmanNT
installer 67 /i "$old"
[ ! -e "$program" ] || fail "the executable is left behind"
kind ServerNT

title "$name: first installation; nothing is started"
installer 0 /i "$old" 'SERVICEACCOUNT=LocalSystem'
[ -s "$program" ] || fail "the executable is missing"
searched || fail "PATH does not have the folder"
source_of_events | grep -q EventCreate.exe || fail "the event source is missing"
registered | grep -q LocalSystem || fail "the service does not run as the account of the property"
tool 0 service status
says "stopped"
tool 0 version

title "$name: settings and service"
tool 0 init
printf 'cluster:\n  name: corp\nengine:\n  node: n1\n  listen: 127.0.0.1:14222\n  store: '"'"'C:\\engine-data'"'"'\n  maxStore: 1GiB\n' > "$data/adgateway.yaml"
tool 0 check
tool 0 service start
tool 0 service status
says "running"
[ -d "$drive/engine-data/jetstream" ] || fail "the node has not made its folder"

title "$name: the doctor asks Windows, and understands what Wine answers"
for value in InstallationType=Server EditionID=ServerStandard; do # Wine has none of them
    wine reg add 'HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion' /v "${value%=*}" /d "${value#*=}" /f >/dev/null 2>&1
done
wine reg add 'HKLM\SYSTEM\CurrentControlSet\Control\BackupRestore\FilesNotToBackup' /v engine /t REG_MULTI_SZ /d 'C:\engine-data\* /s' /f >/dev/null 2>&1
said=$(timeout 120 wine "C:\\Program Files\\$name\\$name.exe" doctor 2>&1 | tr -d '\r') || true # there are warnings
echo "$said"
for line in 'engine-data can be read by Everyone' 'volume              NTFS' 'engine-data is not indexed' 'engine-data is left out' 'engine.listen 127.0.0.1:14222'; do
    says "$line"
done

title "$name: the same installation once more: the account stays, the service runs again"
installer 0 /i "$old" REINSTALL=ALL REINSTALLMODE=omus
registered | grep -q LocalSystem || fail "the account was lost"
tool 0 service status
says "running"

title "$name: upgrade without properties: account and data stay, the service runs again"
sum=$(sha256sum "$data/adgateway.yaml" "$drive/engine-data/adgateway-engine.json")
installer 0 /i "$new"
[ "$sum" = "$(sha256sum "$data/adgateway.yaml" "$drive/engine-data/adgateway-engine.json")" ] || fail "the upgrade changed settings or streams"
registered | grep -q LocalSystem || fail "the upgrade lost the account"
tool 0 version
says "v1.1.0"
tool 0 service status
says "running"
[ ! -e "$data/service.json" ] || fail "service.json is left behind"
tool 0 service stop

title "$name: a downgrade is refused"
installer 67 /i "$old"
tool 0 version
says "v1.1.0"

title "$name: removal: settings and streams stay"
installer 0 /x "$new"
[ ! -e "$program" ] || fail "the executable is left behind"
[ -z "$(registered)" ] || fail "the service is left behind"
[ -z "$(source_of_events)" ] || fail "the event source is left behind"
[ -s "$data/adgateway.yaml" ] && [ -s "$data/service.json" ] && [ -d "$drive/engine-data/jetstream" ] || fail "settings or streams are gone"

title "$name: settings with mistakes: the installation is rolled back"
printf 'engine:\n  nod: n1\n' > "$data/adgateway.yaml"
installer 91 /i "$new"
[ ! -e "$program" ] || fail "the executable is left behind"
[ -z "$(registered)" ] || fail "a service is left behind"
