#!/bin/sh
# Installs the programs that the tests run for real, where they are missing and this user
# may install packages. What is still missing afterwards is said here; a test that needs
# it then fails by name.
set -eu

# program:package
needed="bwrap:bubblewrap strace:strace git:git runc:runc podman:podman docker:docker.io busybox:busybox-static bash:bash zsh:zsh fish:fish ip:iproute2 unshare:util-linux psql:postgresql sqlite3:sqlite3 ausearch:auditd gcc:gcc make:make python3:python3 node:nodejs npm:npm"
completion=/usr/share/bash-completion/bash_completion

# DuckDB, as the npm package of its own makers ships it; internal/sqltest looks there.
duckdb=${UMWELT_DUCKDB:-${XDG_CACHE_HOME:-$HOME/.cache}/umwelt-test/duckdb}
install_duckdb() {
	[ ! -d "$duckdb/node_modules/@duckdb/node-api" ] || return 0
	if ! command -v npm >/dev/null 2>&1; then
		echo "setup: missing: DuckDB; npm would install it" >&2
		return 0
	fi
	echo "setup: installing DuckDB in $duckdb"
	mkdir -p "$duckdb"
	npm install --prefix "$duckdb" --no-audit --no-fund --silent @duckdb/node-api@1.5.6-r.1 >/dev/null ||
		echo "setup: DuckDB could not be installed" >&2
}

packages=
for item in $needed; do
	command -v "${item%%:*}" >/dev/null 2>&1 || packages="$packages ${item#*:}"
done
[ -e /usr/include/stdio.h ] || packages="$packages libc6-dev"
[ -e "$completion" ] || packages="$packages bash-completion"
python3 -c 'import yaml' 2>/dev/null || /usr/bin/python3 -c 'import yaml' 2>/dev/null || packages="$packages python3-yaml"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages="$packages postgresql"
if [ -z "$packages" ]; then
	install_duckdb
	echo "setup: every outside program is installed"
	exit 0
fi

as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1 || ! sudo -n true 2>/dev/null; then
		echo "setup: missing:$packages; this user cannot install them. As root: apt-get install$packages" >&2
		exit 0
	fi
	as_root="sudo -n env DEBIAN_FRONTEND=noninteractive"
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: missing:$packages; there is no apt-get, install them by this system's own means" >&2
	exit 0
fi
echo "setup: installing$packages"
export DEBIAN_FRONTEND=noninteractive
# A stale index is refreshed only where the installation needs it.
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null 2>&1 || {
	$as_root apt-get update -qq
	$as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null
}
install_duckdb
