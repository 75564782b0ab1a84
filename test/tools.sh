#!/usr/bin/env bash
# tools.sh PACKAGE=COMMAND...: as root, installs the Debian packages whose commands are missing. An absolute
# path in place of a command means a file of the package. Without root, it fails and prints the missing
# packages.
set -euo pipefail
missing=()
for pair in "$@"; do
    command -v "${pair#*=}" >/dev/null || [ -e "${pair#*=}" ] || missing+=("${pair%%=*}")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]}; on Debian, apt-get install ${missing[*]} installs what is needed"
    exit 1
fi
echo "installing ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
