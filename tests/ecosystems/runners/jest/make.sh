# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for jest, and the command.
[[ $project == project ]] && js="src/Menu.test.js src/Tabs.test.js src/Broken.test.js"
add "jest@$version"
words=(--json --outputFile="$report" --coverage=false --notify=false --verbose)
((version < 21)) && words+=(--testResultsProcessor="$work/tools/reporter20.cjs")
((version < 24)) && words+=(--bail=false) || words+=(--bail=0)
((version >= 20)) && words+=(--ci --cacheDirectory="$work/cache")
((version >= 21)) && export NODE_OPTIONS="--require=$work/tools/hooks.cjs"
((version >= 22)) && words+=(--passWithNoTests --runTestsByPath)
command=(node_modules/jest/bin/jest.js "${words[@]}" $js)
