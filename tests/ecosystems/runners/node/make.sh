# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for node, and the command.
[[ $project == project ]] && js="test/menu.test.js test/tabs.test.js test/broken.test.js"
command=(--test --test-reporter=spec --test-reporter-destination=stdout --test-reporter="$work/tools/reporter.mjs"
  --test-reporter-destination="$report" $js)
