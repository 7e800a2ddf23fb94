# Gives all files that patches wrote and their folders the same time, so that their order does not reveal which run this
# is, and those in the scratch folder $0 a time that is the same in all runs, since compilers may keep what they made of a
# file under the times of its imports. Then starts $1 processes that end at once, so that the next process number does not
# reveal how many commands ran before. Files that a patch made unreachable are skipped: a link in place of a folder must
# not end the evaluation.
now=$(date +%s)
written=$0/written
git diff --name-only -z --no-renames HEAD > "$written"
git ls-files -z --others --exclude=node_modules >> "$written"
while [ -s "$written" ]; do
  xargs -0 touch -chd "@$now" -- < "$written" || :
  xargs -0 dirname -z -- < "$written" | sort -zu | grep -azvx '\.' > "$written.above" || :
  mv "$written.above" "$written"
done
touch -chd "@$now" .
rm -f -- "$written"
find "$0" -exec touch -chd "@1000000000" {} + || :
n=0
while [ "$n" -lt "$1" ]; do
  (:)
  n=$((n + 1))
done
