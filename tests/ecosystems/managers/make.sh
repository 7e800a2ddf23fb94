#!/bin/bash
# Regenerate a lock file: `make.sh MANAGER PACKAGE VERSION FILE [OPTION…]` lets VERSION of the npm package PACKAGE lock
# project/, and stores the resulting FILE as MANAGER/VERSION/FILE. Needs npm and its registry.
set -euo pipefail
manager=$1 package=$2 version=$3 file=$4 && shift 4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cp "$here/project/package.json" "$work"
tools=$(mktemp -d) && trap 'rm -rf "$work" "$tools"' EXIT
npm install --silent --no-audit --no-fund --global --prefix "$tools" "$package@$version"
export PATH="$tools/bin:$PATH" YARN_NODE_LINKER=node-modules YARN_ENABLE_TELEMETRY=0 CI=
(cd "$work" && "$manager" install "$@" > "$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
mkdir -p "$here/$manager/$version" && cp "$work/$file" "$here/$manager/$version/$file"
