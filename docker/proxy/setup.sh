#!/usr/bin/env bash
# Set up the LiteLLM proxy with a database on this machine, without containers: for trying, and for the tests.
#
# Usage: docker/proxy/setup.sh DIR DATABASE_URL
#
# Makes a virtual environment in DIR from vendors/litellm/requirements.txt and Prisma's client in it, for which Prisma's
# engines are fetched (needs uv, Node and a way out). Writes DIR/env.sh: source it, then run
#   $LITELLM --config docker/proxy/config.yaml
# which makes its tables at the first start. PostgreSQL must answer at DATABASE_URL.
set -euo pipefail
# shellcheck source=../engine/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../engine/common.sh"
requirements=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../vendors/litellm" && pwd)/requirements.txt

# The schema of LiteLLM's tables, which its package carries.
schema() { "$1" -c 'import litellm_proxy_extras as here, pathlib; print(pathlib.Path(here.__file__).with_name("schema.prisma"))'; }

main() {
    case ${1:-} in -h | --help) usage && exit 0 ;; esac
    (($# == 2)) || { usage >&2 && die "name a folder and the address of a database"; }
    local python=$1/venv/bin/python
    mkdir -p "$1"
    [[ -x $python ]] || uv venv --quiet --python 3.11 "$1/venv"
    uv pip sync --quiet --require-hashes --python "$python" "$requirements"
    PATH=$1/venv/bin:$PATH prisma generate --schema "$(schema "$python")" >&2 || die "Prisma's engines could not be fetched"
    # shellcheck disable=SC2016  # PATH is the one of whoever sources it
    printf 'export DATABASE_URL=%q PATH=%q:$PATH LITELLM=%q\n' "$2" "$1/venv/bin" "$1/venv/bin/litellm" >"$1/env.sh"
}

main "$@"
