#!/bin/sh
# Runs every fuzz target of the module, one after the other, for FUZZTIME each.
set -eu
time="${FUZZTIME:-10m}"
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "fuzz: $package $target for $time"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
	done
done
