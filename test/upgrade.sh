#!/usr/bin/env bash
# Builds both programs at an older commit, and runs them together with the current ones (test/upgrade). OLD is
# a commit or a tag. The default is the last tag before HEAD or, if there is none, the fiftieth commit before
# it.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
old=${OLD:-$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || echo HEAD~50)}
folder=$(mktemp -d)
trap 'git worktree remove --force "$folder/source" 2>/dev/null || true; rm -rf "$folder"' EXIT
git worktree add --quiet --detach "$folder/source" "$old"
# The gateways of both versions share one simulated domain.
protocol() { sed -n 's/^const protocol = //p' ps/sandbox/remote/domain.go; }
spoken=$(cd "$folder/source" && protocol)
if [ "$spoken" != "$(protocol)" ]; then
  echo "The simulated domain speaks protocol $(protocol), and the gateway of $old speaks ${spoken:-none}: no domain serves both." >&2
  echo "Choose a later OLD." >&2
  exit 1
fi
build() { # FOLDER: builds the programs from the sources in the current folder
  "$go" build -o "$1/adgateway" ./cmd/adgateway
  "$go" build -o "$1/adgateway-engine" ./cmd/adgateway-engine
}
(cd "$folder/source" && build "$folder/old")
build "$folder/new"
echo "old: $(git log -1 --format='%h %s' "$old")"
echo "new: $(git log -1 --format='%h %s')$(git diff --quiet HEAD || echo ', with changes')"
tests=TestAGatewayAlone
if "$folder/old/adgateway" cluster init --help | grep -- '--gateway' > /dev/null; then
  tests="$tests|TestACluster"
else
  echo 'The clusters of the old version are migrated: go test ./test/fleet -run TestAnOldClusterMigrates'
fi
"$go" test -count=1 -vet=off -timeout 30m -v ./test/upgrade -run "^($tests)\$" -old "$folder/old" -new "$folder/new"
