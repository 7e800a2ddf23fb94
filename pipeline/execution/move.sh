# Copies the repository at $0, without installed packages, to a new folder named $1, and prints that folder's path.
from=$0
to=${TMPDIR:-/tmp}/$1
mkdir "$to"
cd "$from"
tar -cf - --exclude=node_modules --exclude=./.git . | tar -xf - -C "$to"
printf 'gitdir: %s/.git\n' "$from" > "$to/.git"
# Installed packages are linked, many by one command. Links to the repository's own packages are copied, so that they
# lead to the copies.
find . -name node_modules -prune -print | while read -r folder; do
  echo "$folder"
  find "$folder/" -mindepth 1 -maxdepth 1 -type d -name '@*'
done | while read -r packages; do
  mkdir -p "$to/$packages"
  find "$from/${packages#./}/" -mindepth 1 -maxdepth 1 ! -name '@*' ! -type l -exec ln -s -t "$to/$packages" {} +
  find "$packages/" -mindepth 1 -maxdepth 1 -type l -exec cp -P -t "$to/$packages" {} +
done
echo "$to"
