#!/usr/bin/env bash
# ansible.sh ADGATEWAY: installs the collection of the release into a separate folder, and runs its playbooks
# against the sandbox: check mode, first and second run, changes, refusals, a busy gateway, removal. The
# outputs are in dist/ansible.
set -euo pipefail
cd "$(dirname "$0")/.."
./test/tools.sh ansible-core=ansible-playbook curl=curl python3=python3

gateway=$(realpath "$1")
out=$PWD/dist/ansible
rm -rf "$out"
mkdir -p "$out/tls"
processes=()
finish() { for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
title() { printf '\n== %s\n' "$*"; }

export ANSIBLE_COLLECTIONS_PATH=$out/installed ANSIBLE_HOME=$out/home ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_NOCOWS=1
export ANSIBLE_INVENTORY_UNPARSED_WARNING=false ANSIBLE_LOCAL_TEMP=$out/tmp ANSIBLE_REMOTE_TEMP=$out/tmp LC_ALL=C.UTF-8

title "The archive is what ansible-galaxy would build, and installs"
SOURCE_DATE_EPOCH=1700000000 go run ./cmd/release -version v1.2.3 -only clients -out "$out/release" >/dev/null
archive=$out/release/adgateway-ad-1.2.3.tar.gz
ansible-galaxy collection install --offline "$archive" -p "$out/installed" >"$out/install.txt"
installed=$out/installed/ansible_collections/adgateway/ad
ansible-galaxy collection verify --offline adgateway.ad >>"$out/install.txt"
cp -r "$installed" "$out/source"
rm "$out/source/MANIFEST.json" "$out/source/FILES.json"
cat > "$out/source/galaxy.yml" <<'YML'
namespace: adgateway
name: ad
version: 1.2.3
readme: README.md
authors: [The adgateway authors]
license: [MIT]
YML
(cd "$out/source" && ansible-galaxy collection build --output-path "$out/rebuilt" >/dev/null)
files() { tar xzOf "$1" FILES.json | python3 -c 'import json,sys; print(*sorted("%(name)s %(ftype)s %(chksum_sha256)s" % f for f in json.load(sys.stdin)["files"]), sep="\n")'; }
diff <(files "$archive") <(files "$out"/rebuilt/adgateway-ad-1.2.3.tar.gz) || fail "ansible-galaxy builds another archive"

title "Documentation of every module"
modules=$(cd "$installed/plugins/modules" && ls | sed -n 's/^\([a-z].*\)\.py$/adgateway.ad.\1/p')
# shellcheck disable=SC2086
ansible-doc --json $modules >"$out/modules.json" 2>"$out/modules.err"
[ ! -s "$out/modules.err" ] || fail "ansible-doc: $(cat "$out/modules.err")"
for module in $modules; do
    # The examples must be tasks whose options exist.
    python3 - "$out/modules.json" "$module" <<'PY'
import json, sys, yaml
module = json.load(open(sys.argv[1]))[sys.argv[2]]
options = module["doc"]["options"]
for task in yaml.safe_load(module["examples"]):
    given = task[sys.argv[2]]
    assert set(given) <= set(options), (sys.argv[2], set(given) - set(options))
    missing = [n for n, o in options.items() if o.get("required") and n not in given and n not in ("gateway_url", "token")]
    assert not missing, (sys.argv[2], missing)
yaml.safe_load(module["return"] if isinstance(module["return"], str) else "{}")
PY
    echo "$module"
done

title "A sandbox that asks for a guard and a key of every change"
token=$(python3 -c 'import secrets; print(secrets.token_hex(16))')
export SOME_PASSWORD="Corr3ct-%Horse&=#$RANDOM"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
plainport=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
busyport=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$gateway" tls selfsigned --name localhost --out "$out/tls" >"$out/tls.txt"
guard=(--set 'http.requireGuard=["*"]' --set 'http.requireKey=["*"]' --token "$token")
"$gateway" sandbox --listen "127.0.0.1:$port" "${guard[@]}" --set tls.certificateFile="$out/tls/gw.pem" --set tls.keyFile="$out/tls/gw.key" >"$out/sandbox.txt" 2>&1 &
processes+=($!)
"$gateway" sandbox --listen "127.0.0.1:$plainport" "${guard[@]}" >"$out/sandbox-plain.txt" 2>&1 &
processes+=($!)
python3 test/ansible/busy.py "$busyport" "127.0.0.1:$plainport" >"$out/busy.txt" 2>&1 &
processes+=($!)
up=
for _ in $(seq 150); do
    curl -sf --cacert "$out/tls/gw.pem" "https://localhost:$port/healthz" >/dev/null && curl -sf "http://127.0.0.1:$plainport/healthz" >/dev/null && up=1 && break
    sleep 0.2
done
[ -n "$up" ] || fail "the sandbox did not start; see $out/sandbox.txt"
export ADGATEWAY_URL=https://localhost:$port ADGATEWAY_TOKEN=$token GATEWAY_CA_PATH=$out/tls/gw.pem

# play NAME PLAYBOOK ARGUMENTS...: runs a playbook, and sets changed to the number of tasks that changed
# something.
play() {
    local name=$1 playbook=$2
    shift 2
    timeout 300 ansible-playbook "test/ansible/$playbook.yml" "$@" >"$out/$name.txt" 2>&1 || { tail -40 "$out/$name.txt"; fail "$name"; }
    changed=$(sed -n 's/.* changed=\([0-9]*\).*/\1/p' "$out/$name.txt" | tail -1)
    echo "$name: changed=$changed"
}
tasks=$(grep -c '^      adgateway.ad' test/ansible/site.yml)
[ "$tasks" -gt 10 ] || fail "site.yml has $tasks tasks"

title "Check mode changes nothing"
history() { curl -sf --cacert "$out/tls/gw.pem" -H "Authorization: Bearer $token" "https://localhost:$port/api/Changes" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["result"]))'; }
play check site --check --diff
[ "$changed" = "$tasks" ] || fail "check mode says that $changed of $tasks tasks would change something"
[ "$(history)" = 0 ] || fail "check mode changed something"

title "First run, with its diff"
play first site --diff -vvv
[ "$changed" = "$tasks" ] || fail "$changed of $tasks tasks changed something"
grep -q '^+.*"jobTitle": "Clerk"' "$out/first.txt" || fail "the diff does not show the job title"
[ "$(history)" -ge "$tasks" ] || fail "the history has $(history) changes"

title "Second run"
play second site
[ "$changed" = 0 ] || fail "the second run changed something"

title "Changes, in check mode, then made, then made again"
play change-check change --check --diff
[ "$changed" = 4 ] || fail "not each change would be made"
grep -q '^-.*"jobTitle": "Clerk"' "$out/change-check.txt" && grep -q '^+.*"jobTitle": "Lead"' "$out/change-check.txt" || fail "the diff does not show the job titles"
play change change
[ "$changed" = 4 ] || fail "not each change was made"
play change-again change
[ "$changed" = 0 ] || fail "the changes were made again"

title "Passwords"
play password password -vvv
[ "$changed" = 1 ] || fail "the password was set $changed times"

title "Refusals and lists"
play refused refused
[ "$changed" = 0 ] || fail "what was refused changed something"

title "The example of the manual"
awk '/^```/ {f = 0} f {print} /^```yaml/ && last == "<!-- playbook -->" {f = 1} {last = $0}' gateway/manual/ansible.md >"$out/manual.yml"
ansible-playbook "$out/manual.yml" -e vaulted_password="$SOME_PASSWORD" >"$out/manual.txt" 2>&1 || { cat "$out/manual.txt"; fail "the example of the manual"; }
grep -q 'changed=3' "$out/manual.txt" || fail "the example of the manual changed something else"

title "A certificate that is not trusted"
begin=$SECONDS
if GATEWAY_CA_PATH='' ansible-playbook test/ansible/change.yml >"$out/untrusted.txt" 2>&1; then fail "the certificate was trusted"; fi
grep -qi 'certificate' "$out/untrusted.txt" || fail "the message does not name the certificate"
[ $((SECONDS - begin)) -lt 30 ] || fail "an untrusted certificate was tried again"

title "Removal, and nothing left to remove"
play absent absent
[ "$changed" = "$(grep -c '^      adgateway.ad' test/ansible/absent.yml)" ] || fail "not everything was removed"
play absent-again absent
[ "$changed" = 0 ] || fail "something was removed twice"

title "A busy gateway, of which an answer is lost"
ADGATEWAY_URL=http://127.0.0.1:$busyport play busy site
[ "$changed" = "$tasks" ] || fail "$changed of $tasks tasks changed something"
grep -q ' 201 true$\| 200 true$' "$out/busy.txt" || fail "the change whose answer was lost was not repeated with its key"

title "No secret was shown"
grep -lF -e "$token" -e "$SOME_PASSWORD" "$out"/{check,first,second,change,change-check,password,refused,absent,busy,untrusted}.txt && fail "a secret is in an output"

printf '\nEverything was as it should be with %s.\n' "$(ansible --version | sed -n 1p)"
