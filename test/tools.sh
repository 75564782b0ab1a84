#!/usr/bin/env bash
# tools.sh PACKAGE=COMMAND...: installs the Debian packages whose commands are missing, or whose
# files where an absolute path stands for the command, as root; others are told which packages
# those are.
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
