# shellcheck shell=bash disable=SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for karma, and the command.
add "karma@$version" karma-jasmine@5 jasmine-core@4 karma-chrome-launcher@3
command=(node_modules/karma/bin/karma start "$work/tools/reporter.cjs")
