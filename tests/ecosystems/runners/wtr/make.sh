# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for Web Test Runner, and the command.
add "@web/test-runner@$version"
export WTR_CONFIG=web-test-runner.config.mjs
command=(node_modules/@web/test-runner/dist/bin.js --config "$work/tools/reporter.mjs" $js)
