# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for vitest, and the command. `late/` has an error outside every test, and a control.
[[ $project == project ]] && js="src/Menu.test.js src/Tabs.test.js src/Broken.test.js"
add "vitest@$version"
words=(run --reporter=default --reporter=json --passWithNoTests)
[[ $version == 0* ]] && words+=(--outputFile="$report" --coverage=false) ||
  words+=(--outputFile.json="$report" --coverage.enabled=false --bail=0)
command=(node_modules/vitest/vitest.mjs "${words[@]}" $js)
