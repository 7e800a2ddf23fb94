#!/bin/sh
# Finish the base image from within its own root filesystem. from-*.sh pass it there as text, named
# base-rootfs; it refuses any other name, since it deletes documentation and apt sources.
#
# Arguments: packages to install first (none where they are there already).
# Makes the user bench and /workspace; takes out caches, logs and documentation.
set -eu
[ "$0" = base-rootfs ] || { echo "$0: only docker/base/from-*.sh may run this" >&2 && exit 1; }

# Shows what apt said only when it failed.
install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    if ! output=$(apt-get update --quiet=2 2>&1 && apt-get install --yes --quiet=2 --no-install-recommends "$@" 2>&1); then
        echo "$output" | tail -n 20 >&2
        exit 1
    fi
}

# Later layers install from Debian's own servers, whatever mirror made this image, and stay slim too.
configure_packaging() {
    rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
    . /etc/os-release
    cat >/etc/apt/sources.list.d/debian.sources <<SOURCES
Types: deb
URIs: http://deb.debian.org/debian
Suites: $VERSION_CODENAME $VERSION_CODENAME-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: $VERSION_CODENAME-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    cat >/etc/dpkg/dpkg.cfg.d/slim <<'EXCLUDES'
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/info/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/man/*
EXCLUDES
}

# Licences (copyright files) stay.
slim_down() {
    apt-get clean
    find /usr/share/doc -type f ! -name copyright -delete
    find /usr/share/doc -type l -delete
    find /usr/share/doc -type d -empty -delete
    rm -rf /usr/share/info/* /usr/share/lintian /usr/share/locale/* /usr/share/man/*
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/debconf/*-old /var/cache/ldconfig/*
    find /var/log -type f -delete
}

if [ $# -gt 0 ]; then install_packages "$@"; fi
useradd --create-home --uid 1000 --shell /bin/bash bench
install -d -o bench -g bench /workspace
configure_packaging
slim_down
