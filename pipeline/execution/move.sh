# Copies the repository at $0 to a new folder of the name $1, without what is installed, and prints that folder's path.
from=$0
to=${TMPDIR:-/tmp}/$1
mkdir "$to"
cd "$from"
tar -cf - --exclude=node_modules --exclude=./.git . | tar -xf - -C "$to"
printf 'gitdir: %s/.git\n' "$from" > "$to/.git"
# installed packages are linked, many by one command; links to the repository's own packages lead to their copies
find . -name node_modules -prune -print | while read -r folder; do
  echo "$folder"
  find "$folder/" -mindepth 1 -maxdepth 1 -type d -name '@*'
done | while read -r packages; do
  mkdir -p "$to/$packages"
  find "$from/${packages#./}/" -mindepth 1 -maxdepth 1 ! -name '@*' ! -type l -exec ln -s -t "$to/$packages" {} +
  find "$packages/" -mindepth 1 -maxdepth 1 -type l -exec cp -P -t "$to/$packages" {} +
done
echo "$to"
