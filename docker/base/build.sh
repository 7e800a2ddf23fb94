#!/usr/bin/env bash
# Make the base image that every environment image stands on: Debian, git, curl, a user bench.
#
# Usage: docker/base/build.sh [--force] [--help]
#
# An image that this same recipe made is kept; --force makes it again. Prints image, id and size.
#
# Environment:
#   A11Y_BENCH_BASE_IMAGE          name of the image  (a11y-bench/base:bookworm)
#   A11Y_BENCH_BASE_FROM           registry, debootstrap, or auto: the first that works  (auto)
#   A11Y_BENCH_BASE_UPSTREAM, A11Y_BENCH_BASE_PULL_SECONDS   see from-registry.sh --help
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../engine/common.sh
source "$HERE/../engine/common.sh"

SUITE=bookworm
IMAGE=${A11Y_BENCH_BASE_IMAGE:-a11y-bench/base:$SUITE}
FROM=${A11Y_BENCH_BASE_FROM:-auto}
RECIPE=(build.sh from-debootstrap.sh from-registry.sh inside.sh mirrors.sh packages.txt)
declare -A WAYS=([auto]="registry debootstrap" [registry]=registry [debootstrap]=debootstrap)

recipe_digest() { (cd "$HERE" && sha256sum "${RECIPE[@]}" | sha256sum | cut -d' ' -f1); }

# True when the image exists and this recipe made it.
up_to_date() {
    [[ $(docker image inspect --format '{{index .Config.Labels "a11y-bench.recipe"}}' "$IMAGE" 2>/dev/null) == "$1" ]]
}

# Gives the name to image $1, and removes the image that had it unless it has another name or is in use.
name_image() {
    local old
    old=$(docker image inspect --format '{{.Id}}' "$IMAGE" 2>/dev/null) || old=
    docker tag "$1" "$IMAGE"
    [[ -n $old && $(docker image inspect --format '{{len .RepoTags}}' "$old") == 0 ]] || return 0
    docker rmi "$old" >/dev/null 2>&1 || say "the image made before stays, since something uses it: $old"
}

show() {
    local id size
    read -r id size < <(docker image inspect --format '{{.Id}} {{.Size}}' "$IMAGE")
    echo "$IMAGE $id $(numfmt --to=si --suffix=B "$size")"
}

# import_from WAY DIGEST: names the image only when its whole root filesystem arrived.
import_from() {
    local id packages changes=(
        --change "LABEL org.opencontainers.image.title=a11y-bench-base"
        --change "LABEL a11y-bench.layer=base"
        --change "LABEL a11y-bench.recipe=$2"
        --change "LABEL a11y-bench.source=$1"
        --change "ENV LANG=C.UTF-8"
        --change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        --change "WORKDIR /workspace"
        --change 'CMD ["/bin/bash"]'
    )
    mapfile -t packages < <(sed 's/ *#.*//; /^$/d' "$HERE/packages.txt")
    if id=$("$HERE/from-$1.sh" "$SUITE" "${packages[@]}" | docker import "${changes[@]}" -); then
        name_image "$id"
    else
        docker rmi "$id" >/dev/null 2>&1 || true
        return 1
    fi
}

build() {
    local way
    for way in ${WAYS[$FROM]}; do
        say "making $IMAGE by way of $way"
        import_from "$way" "$1" && return
    done
    die "$IMAGE could not be made (tried: ${WAYS[$FROM]}); the lines above say why"
}

main() {
    local digest force=
    case ${1:-} in
    '') ;;
    --force) force=1 ;;
    -h | --help) usage && return ;;
    *) usage >&2 && die "unknown argument '$1'" ;;
    esac
    [[ -v WAYS[$FROM] ]] || die "A11Y_BENCH_BASE_FROM is '$FROM'; it can be: ${!WAYS[*]}"
    engine_answers || die "no Docker engine answers: run docker/engine/install.sh and docker/engine/start.sh"
    digest=$(recipe_digest)
    if [[ -z $force ]] && up_to_date "$digest"; then
        say "kept: the recipe has not changed (--force makes it again)"
    else
        build "$digest"
    fi
    show
}

main "$@"
