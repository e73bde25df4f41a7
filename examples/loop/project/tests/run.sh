#!/bin/sh
# Runs every case and writes a report.
set -eu
. ./src/price.sh
mkdir -p build
for case in tests/case-*.txt; do
	while read -r amount want; do
		[ "$(price "$amount")" = "$want" ] || { echo "$case: $amount failed" >&2; exit 1; }
	done <"$case"
	echo "$case ok"
done >build/report.txt
cat build/report.txt
