# Prints the diff between the checkout in the current folder and its first commit, committed or not, with new files.
# What an agent left must not prevent a verdict: files that cannot be read, and repositories without a commit, are left
# out (git's exit code 1), and if a text is not UTF-8, all files are given as binary. The agent's own settings and
# attributes of git do not count.
GIT="git -c safe.directory=*"
SCRATCH="$(mktemp -d)" OBJECTS="$(cd "$($GIT rev-parse --git-path objects)" && pwd)" || exit 1
GIT_INDEX_FILE="$SCRATCH/index"
export GIT_INDEX_FILE
FIRST="$($GIT rev-list --max-parents=0 HEAD | tail -n 1)"
$GIT read-tree "$FIRST" || exit 1
$GIT add --all --ignore-errors 2> /dev/null
[ $? -le 1 ] || { echo 'git cannot add what the agent left' >&2; exit 1; }
TREE="$($GIT write-tree)" && git init --quiet --bare "$SCRATCH/apart" || exit 1

difference() {
  GIT_ALTERNATE_OBJECT_DIRECTORIES="$OBJECTS" git --git-dir="$SCRATCH/apart" -c core.quotePath=true diff-tree --binary \
    --full-index --no-renames --no-color --no-ext-diff --no-textconv "$FIRST" "$TREE" > "$SCRATCH/patch" || exit 1
}

difference
if ! node -e 'process.exit(/\ufffd/.test(require("fs").readFileSync(process.argv[1])) ? 1 : 0)' "$SCRATCH/patch"; then
  mkdir -p "$SCRATCH/apart/info"
  echo '* -diff' > "$SCRATCH/apart/info/attributes"
  difference
fi
cat "$SCRATCH/patch"
