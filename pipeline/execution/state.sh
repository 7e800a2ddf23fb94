# Prints four lists: the files that differ from the commit, those that it does not have, those that were made for the
# image (the file $1 names them), and those of the first two lists that match the pattern $0. Each name ends with a zero
# byte, each list with an empty name. $2 is the start of the paths of temporary files. This is one script because
# starting a command takes longer than most of these commands. Warnings of git are no names, so they are printed only if
# git fails.
list() {
  "$@" 2> "$errors" || { code=$?; cat "$errors" >&2; exit "$code"; }
}
changed=$2.changed others=$2.others errors=$2.errors
list git diff --name-only -z --no-renames HEAD > "$changed"
list git ls-files -z --others --exclude=node_modules > "$others"
cat "$changed"
printf '\0'
cat "$others"
printf '\0'
if [ -s "$1" ]; then
  cat "$1"
  printf '\0'
fi
printf '\0'
cat "$changed" "$others" | xargs -0 -r grep -lZsE -D skip -e "$0" -- || :
printf '\0'
rm -f -- "$changed" "$others" "$errors"
