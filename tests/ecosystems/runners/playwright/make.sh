# shellcheck shell=bash disable=SC2054,SC2034,SC2154,SC2206,SC2086
# Read by `../make.sh`: the packages for playwright, and the command.
add "@playwright/experimental-ct-react@$version" react@18 react-dom@18
[[ $project == project ]] && js="src/Menu.spec.jsx src/Tabs.spec.jsx"
command=(node_modules/@playwright/experimental-ct-react/cli.js test -c playwright-ct.config.js
  "--reporter=list,json,$work/tools/reporter.cjs" $js)
