# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# What `../make.sh` installs of Web Test Runner, and its command.
add "@web/test-runner@$version"
export WTR_CONFIG=web-test-runner.config.mjs
command=(node_modules/@web/test-runner/dist/bin.js --config "$work/tools/reporter.mjs" $js)
