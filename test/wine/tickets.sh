# Kerberos tickets, which Wine checks with the library of MIT Kerberos and a keytab. Sourced by wine.sh.

title "The calls of SSPI: libraries, credentials, tokens that are no tickets, and tickets; policies of browsers"
tickets=$out/tmp/tickets
mkdir -p "$tickets"
printf '[libdefaults]\n default_realm = CORP.EXAMPLE\n' > "$tickets/krb5.conf"
GOOS=windows go test -c -o "$out/tmp/host.test.exe" ./winsvc/host
fresh() { go test -count=1 ./gateway/authn/negotiate -run '^TestTicketsForOthers$' -args -tickets "$tickets" >/dev/null || fail "no tickets"; }
fresh
wineserver -k || true # Wine takes its environment from its first program
export KRB5_CONFIG=$tickets/krb5.conf KRB5_KTNAME=FILE:$tickets/keytab
TICKETS=$(winepath -w "$tickets")
export TICKETS
policy() { wine reg add "HKLM\\SOFTWARE\\Policies\\$1" /v "$2" /d "$3" /f >/dev/null 2>&1; }
policy 'Microsoft\Edge' AuthServerAllowlist 'other.example,*.corp.example'
policy 'Google\Chrome' AuthServerAllowlist 'gateway.corp.example'
policy 'Mozilla\Firefox\Authentication\SPNEGO' 1 'https://gateway.corp.example'
policy 'Microsoft\Windows\CurrentVersion\Internet Settings\ZoneMapKey' 'https://gateway.corp.example' 1
policy 'Microsoft\Windows\CurrentVersion\Internet Settings\ZoneMapKey' 'https://internet.example' 3
tests='TheLayoutOfSSPI|EveryCallOfSSPIIsThere|TokensThatAreNoTickets|TicketsOfAnAuthority|PoliciesOfBrowsers'
ends 0 "$(winepath -w "$out/tmp/host.test.exe")" -test.v -test.run "^Test($tests)\$"
[[ $said != *SKIP* ]] || fail "a test was skipped"

title "A sandbox that checks tickets with Windows answers each token with a sentence"
wine 'C:\Program Files\adgateway\adgateway.exe' sandbox --listen 127.0.0.1:18081 --token 0123456789abcdef0123456789abcdef --set signIn.mode=form+kerberos >"$out/tmp/tickets.log" 2>&1 &
sandbox=$!
for _ in $(seq 120); do curl -sf http://127.0.0.1:18081/healthz >/dev/null && break; sleep 0.5; done
fresh
# answers STATUS TEXT HEADER-FILE: sends the header, and requires the status and the text.
answers() {
    said=$(curl -s -w '\n%{http_code}' -H "Authorization: $(cat "$3")" http://127.0.0.1:18081/api/WhoAmI)
    echo "> $(basename "$3"): $said"
    [[ $said == *$'\n'"$1" && $said == *"$2"* ]] || fail "not $1 with: $2"
}
header() { printf 'Negotiate %s' "$(base64 -w0)" > "$tickets/$1.header"; }
printf 'let me in' | header rubbish
printf 'NTLMSSP\0\1\0\0\0' | header ntlm
head -c 40000 /dev/zero | header zeros
head -c 65536 /dev/zero | header long
head -c 300 "$tickets/valid" | header half
answers 401 "cannot be read" "$tickets/rubbish.header"
answers 401 "NTLM is not accepted" "$tickets/ntlm.header"
answers 401 "cannot be read" "$tickets/zeros.header"
answers 401 "too large" "$tickets/long.header"
answers 401 "cannot be read" "$tickets/half.header"
answers 401 "for another service" "$tickets/service.header"
answers 401 "is not valid here" "$tickets/key.header"
answers 503 "does not answer" "$tickets/valid.header" # Wine cannot make an access token for the account
grep -q QuerySecurityContextToken "$out/tmp/tickets.log" || fail "the valid ticket was not accepted"
curl -sf http://127.0.0.1:18081/healthz >/dev/null || fail "the sandbox ended"
kill $sandbox
sandbox=
unset KRB5_CONFIG KRB5_KTNAME TICKETS
