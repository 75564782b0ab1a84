#!/usr/bin/env bash
# Runs three gateways of a cluster over one simulated domain, and the nodes of their hosts, on this computer
# until Ctrl-C. LISTEN is the address of the load balancer.
set -euo pipefail
cd "$(dirname "$0")/.."
listen=${LISTEN:-127.0.0.1:8080}
folder=$(mktemp -d)
names=(gw1 gw2 gw3)
declare -A pids
stop() {
  trap - EXIT INT TERM
  kill "${pids[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 0' INT TERM

begin() { # NAME COMMAND...
  local name=$1
  shift
  "$@" > "$folder/$name.log" 2>&1 &
  pids[$name]=$!
}
await() { # NAME TEXT: waits until the log of a process contains a text
  for _ in $(seq 300); do
    grep -q -- "$2" "$folder/$1.log" 2>/dev/null && return
    kill -0 "${pids[$1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "$1 did not start:" >&2
  cat "$folder/$1.log" >&2
  exit 1
}

begin domain bin/adgateway sandbox domain --listen 127.0.0.1:17300 --ticket-file "$folder/ticket"
await domain 'ticket'
for i in 1 2 3; do
  mkdir "$folder/gw$i"
  cat > "$folder/gw$i/adgateway.yaml" <<EOF
http:
  listen: 127.0.0.1:1808$i
store:
  file: state.db
cluster:
  listen: 127.0.0.1:1744$i
engine:
  listen: 127.0.0.1:1422$i
  cluster: 127.0.0.1:1622$i
sandbox:
  account: gw$i
EOF
done

start() { # NAME: starts the node and the gateway of a host
  begin "node-of-$1" bin/adgateway-engine run --config "$folder/$1/adgateway.yaml"
  begin "$1" bin/adgateway sandbox --config "$folder/$1/adgateway.yaml" --token dev-token-of-all-three \
    --domain 127.0.0.1:17300 --ticket-file "$folder/ticket" --gateway-name "$1"
}
# The gateways form a cluster as they would on three hosts. The first one runs, and the others join with the
# commands that it has printed.
bin/adgateway cluster init --config "$folder/gw1/adgateway.yaml" --name demo \
  --gateway gw1=127.0.0.1:16221 --gateway gw2=127.0.0.1:16222 --gateway gw3=127.0.0.1:16223 > "$folder/init.log"
start gw1
await gw1 'listening on'
for name in gw2 gw3; do
  read -ra join < <(grep -- "cluster join .* --gateway $name " "$folder/init.log")
  "bin/${join[0]}" "${join[@]:1}" --config "$folder/$name/adgateway.yaml" > "$folder/$name-join.log"
  start "$name"
done
await node-of-gw1 'the log of the cluster is there'
for name in "${names[@]}"; do await "$name" 'listening on'; done

urls=(http://127.0.0.1:18081 http://127.0.0.1:18082 http://127.0.0.1:18083)
if command -v caddy > /dev/null; then
  printf '{\n  admin off\n}\nhttp://%s {\n  reverse_proxy %s {\n    lb_policy round_robin\n    lb_try_duration 5s\n    health_uri /readyz\n    health_interval 1s\n  }\n}\n' \
    "$listen" "${urls[*]#http://}" > "$folder/Caddyfile"
  begin balancer caddy run --config "$folder/Caddyfile"
  url=http://$listen
elif command -v nginx > /dev/null; then
  printf 'daemon off; pid %s; error_log stderr;\nevents {}\nhttp { access_log off; upstream gateways { %s }\n  server { listen %s; location / { proxy_pass http://gateways; proxy_next_upstream error timeout; proxy_buffering off; } } }\n' \
    "$folder/nginx.pid" "$(printf 'server %s; ' "${urls[@]#http://}")" "$listen" > "$folder/nginx.conf"
  begin balancer nginx -c "$folder/nginx.conf"
  url=http://$listen
else
  echo 'There is no balancer (caddy or nginx): call the gateways in turn.'
  url=${urls[0]}
fi

cat <<EOF

gateways   ${urls[*]}
balancer   ${url}
processes  $(for name in "${!pids[@]}"; do printf '%s=%s ' "$name" "${pids[$name]}"; done)
logs       $folder

A change with a key, at two gateways: the second answers with what the first has done.
  curl -XPUT '${urls[0]}/api/ADUser/lweber?City=Rome' -H 'Auth-Token: Bearer dev-token-of-all-three' -H 'Idempotency-Key: first-key-of-mine'
  curl -XPUT '${urls[1]}/api/ADUser/lweber?City=Rome' -H 'Auth-Token: Bearer dev-token-of-all-three' -H 'Idempotency-Key: first-key-of-mine'
Who lives, and what the gateways have done:
  bin/adgateway cluster status --config $folder/gw1/adgateway.yaml
  curl '${url}/api/Changes?Limit=5' -H 'Auth-Token: Bearer dev-token-of-all-three'
A gateway or a node that ends: the others go on.
  kill -9 ${pids[gw2]}
  kill -9 ${pids[node-of-gw3]}

Ctrl-C ends all of them.
EOF
wait "${pids[domain]}" || true
