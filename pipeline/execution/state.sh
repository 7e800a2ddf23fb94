# Prints five lists: the files that differ from the commit, those that it does not have, those that were made for the
# image (the file $1 names them), those of the first two lists that are links, and those that match the pattern $0, if
# it is not empty. Each name ends with a zero byte, each list with an empty name. $2 is the start of the paths of
# temporary files. This is one script because starting a command takes longer than most of these commands. No link is
# followed: it may lead to a file without end. Warnings of git are no names, so they are printed only if git fails.
list() {
  "$@" 2> "$errors" || { code=$?; cat "$errors" >&2; exit "$code"; }
}
links='for path; do [ ! -L "$path" ] || printf "%s\0" "$path"; done'
plain='for path; do
  part=$path
  while [ ! -L "$part" ]; do
    case $part in
      */*) part=${part%/*} ;;
      *) printf "%s\0" "$path"; break ;;
    esac
  done
done'
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
cat "$changed" "$others" | xargs -0 -r sh -c "$links" sh
printf '\0'
if [ -n "$0" ]; then
  cat "$changed" "$others" | xargs -0 -r sh -c "$plain" sh | xargs -0 -r grep -lZsE -D skip -e "$0" -- || :
fi
printf '\0'
rm -f -- "$changed" "$others" "$errors"
