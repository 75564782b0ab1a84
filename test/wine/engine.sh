# The node of the engine: commands, service and package, which are like those of the gateway.
# Sourced by wine.sh.

use adgateway-engine

title "$name: a domain controller is refused, and nothing is installed"
kind LanmanNT
installer 67 /i "$old"
[ ! -e "$program" ] || fail "the executable is left behind"
kind ServerNT

title "$name: first installation, as the virtual account; nothing is started"
installer 0 /i "$old"
[ -s "$program" ] || fail "the executable is missing"
searched || fail "PATH does not have the folder"
source_of_events | grep -q EventCreate.exe || fail "the event source is missing"
registered | grep -qi 'NT SERVICE.adgateway-engine' || fail "the service does not run as its virtual account"
tool 0 service status
says "stopped"
tool 0 version

title "$name: settings, and the service as an account that Wine can start it as"
tool 0 init
printf 'cluster:\n  name: corp\nengine:\n  node: n1\n  listen: 127.0.0.1:14222\n  store: '"'"'C:\\engine-data'"'"'\n  maxStore: 1GiB\n' > "$data/adgateway.yaml"
tool 0 check
installer 0 /i "$old" REINSTALL=ALL REINSTALLMODE=omus SERVICEACCOUNT=LocalSystem START=1
registered | grep -q LocalSystem || fail "the service does not run as the account of the property"
for _ in $(seq 60); do [ ! -d "$drive/engine-data/jetstream" ] || break; sleep 0.5; done
[ -d "$drive/engine-data/jetstream" ] || fail "the node has not made its folder"
tool 0 service status
says "running"
tool 0 doctor --list
says "FilesNotToBackup"

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
