# Copies the repository at $0 to a new folder of the name $1, without what is installed, and prints that folder's path.
from=$0
to=${TMPDIR:-/tmp}/$1
mkdir "$to"
cd "$from"
tar -cf - --exclude=node_modules --exclude=./.git . | tar -xf - -C "$to"
printf 'gitdir: %s/.git\n' "$from" > "$to/.git"
# one installed package after the other: links to the repository's own packages lead to their copies
find . -name node_modules -prune -print | while read -r folder; do
  mkdir -p "$to/$folder"
  find "$folder/" -mindepth 1 -maxdepth 1 ! -name '@*' -print
  find "$folder/" -mindepth 2 -maxdepth 2 -path '*/node_modules/@*/*' -print
done | while read -r one; do
  [ -d "$to/${one%/*}" ] || mkdir -p "$to/${one%/*}"
  if [ -L "$one" ]; then cp -P "$one" "$to/$one"; else ln -s "$from/${one#./}" "$to/$one"; fi
done
echo "$to"
