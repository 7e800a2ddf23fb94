# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for mocha, and the command.
add "mocha@$version"
[[ $project == project ]] && js="test/menu.test.js test/broken.test.js test/hooks.test.js"
command=(node_modules/mocha/bin/_mocha --reporter "$work/tools/reporter.cjs" $js)
