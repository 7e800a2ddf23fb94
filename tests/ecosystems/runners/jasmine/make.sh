# shellcheck shell=bash disable=SC2086,SC2206,SC2034,SC2154
# Read by `../make.sh`: the packages for jasmine, and the command.
add "jasmine@$version"
[[ $project == project ]] && js="spec/menu.spec.js spec/tabs.spec.js spec/hooks.spec.js spec/broken.spec.js"
command=(node_modules/jasmine/bin/jasmine.js --random=false "--helper=$work/tools/reporter.cjs"
  $js)
