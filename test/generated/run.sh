#!/usr/bin/env bash
# Generates clients from the documents that a sandbox serves, compiles them, and drives
# the sandbox with them: test/generated/run.sh PATH/OF/adgateway
set -euo pipefail
cd "$(dirname "$0")"
program=$1
rm -rf testdata
mkdir -p testdata/{standard,classic}

"$program" sandbox --listen 127.0.0.1:0 --set 'sandbox.tokens=[{value: standard, scopes: ["*"]}, {value: classic, scopes: ["*"], dialect: classic}]' \
    >testdata/sandbox.log 2>&1 &
sandbox=$!
trap 'kill "$sandbox" 2>/dev/null; wait "$sandbox" 2>/dev/null || true' EXIT
for _ in $(seq 300); do
    GATEWAY_URL=$(sed -n 's/^listening on //p' testdata/sandbox.log)
    [ -n "$GATEWAY_URL" ] && break
    kill -0 "$sandbox" 2>/dev/null || break
    sleep 0.1
done
[ -n "$GATEWAY_URL" ] || { cat testdata/sandbox.log; exit 1; }
export GATEWAY_URL GATEWAY_TOKEN=standard GATEWAY_CLASSIC_TOKEN=classic

for dialect in standard classic; do
    curl -sSf "$GATEWAY_URL/openapi-3.0.json?dialect=$dialect" -o "testdata/$dialect-3.0.json"
    curl -sSf "$GATEWAY_URL/openapi.json?dialect=$dialect" -o "testdata/$dialect.json"
    GOFLAGS='' go tool oapi-codegen -generate types,client -package "$dialect" -o "testdata/$dialect/client.gen.go" "testdata/$dialect-3.0.json"
    npx openapi-typescript "testdata/$dialect.json" -o "testdata/$dialect.ts"
done
npx openapi-ts -i ./testdata/standard.json -o ./testdata/hey -c @hey-api/client-fetch

go test -count=1 -v .
npx tsc -p .
node --test testdata/out/fetch.js testdata/out/hey.js
