#!/bin/bash
# Makes the corpora anew: four projects, the files each had before the work began
# (known.txt), what strace saw of some runs of one task (run-*.log), and of further runs of
# the same task that the proposal has not seen (held-out-*.log). The agent's transcripts are
# written by hand, in the form that the agent writes.
#
# The projects stand in /home/ada while it runs, so it needs a machine where that may be
# made. Needs strace, git, gcc, make and python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/ada
base=/home/ada
[ ! -e $base ] || { echo "$base exists already; nothing was done" >&2; exit 1; }
mkdir -p $base
trap 'rm -rf $base' EXIT

# record NAME LOG COMMAND… runs a command in a project under strace.
record() {
	local name=$1 log=$2
	shift 2
	(cd $base/$name && strace -f -y -ttt -s 256 -e signal=none -e trace=%file,%process,%network,fchdir,getdents64,ftruncate,fchmod \
		-o "$here/$name/$log" -- "$@" >/dev/null 2>&1) || true
}

known() { (cd $base/$1 && find . -mindepth 1 ! -type d -printf '%P\n' | LC_ALL=C sort >"$here/$1/known.txt"); }

put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }

# --- a test run: the unit tests of a small ledger ---

ledger() {
	local p=$base/test-run
	mkdir -p $p "$here/test-run"
	put $p/src/ledger/__init__.py </dev/null
	put $p/src/ledger/money.py <<-'E'
		from decimal import Decimal
		def cents(text):
		    return int(Decimal(text) * 100)
	E
	put $p/src/ledger/book.py <<-'E'
		import csv
		from ledger.money import cents
		def balance(path):
		    with open(path) as f:
		        return sum(cents(row["amount"]) for row in csv.DictReader(f))
	E
	put $p/src/ledger/report.py <<-'E'
		import json, os
		def write(path, value):
		    os.makedirs(os.path.dirname(path), exist_ok=True)
		    with open(path, "w") as f:
		        json.dump(value, f)
	E
	put $p/src/ledger/server.py <<<'raise SystemExit("not for tests")'
	put $p/src/ledger/admin.py <<<'raise SystemExit("not for tests")'
	put $p/tests/__init__.py </dev/null
	put $p/tests/test_money.py <<-'E'
		import unittest
		from ledger.money import cents
		class T(unittest.TestCase):
		    def test_cents(self): self.assertEqual(cents("1.50"), 150)
	E
	put $p/tests/test_book.py <<-'E'
		import os, unittest
		from ledger.book import balance
		DATA = os.path.join(os.path.dirname(__file__), "data")
		class T(unittest.TestCase):
		    def test_balance(self):
		        for n in ("01", "02", "03"):
		            self.assertEqual(balance(os.path.join(DATA, f"month-{n}.csv")), 300)
	E
	put $p/tests/test_report.py <<-'E'
		import os, unittest
		from ledger.report import write
		class T(unittest.TestCase):
		    def test_write(self):
		        write(f"build/report-{os.getpid()}.json", {"total": 300})
	E
	local n
	for n in 01 02 03; do printf 'amount\n1.00\n2.00\n' | put $p/tests/data/month-$n.csv; done
	put $p/tests/live/test_bank.py <<<'raise SystemExit("needs the bank")'
	printf 'API_KEY=none\n' | put $p/.env
	printf 'none\n' | put $p/secrets/prod.pem
	for n in architecture deploy onboarding; do echo "# $n" | put $p/docs/$n.md; done
	printf '[project]\nname = "ledger"\n' | put $p/pyproject.toml
	known test-run
	local command=(env PYTHONPATH=src python3 -m unittest)
	record test-run run-1.log "${command[@]}" tests.test_money tests.test_book tests.test_report
	record test-run run-2.log "${command[@]}" tests.test_money tests.test_book tests.test_report
	touch $p/src/ledger/book.py
	record test-run held-out-1.log "${command[@]}" discover -s tests -t . -p 'test_*.py'
	record test-run held-out-2.log "${command[@]}" tests.test_report
}

# --- a build: a C program by make ---

program() {
	local p=$base/build
	mkdir -p $p "$here/build"
	local n
	for n in main lex parse emit; do
		printf '#include "%s.h"\n%s\n' $n "$([ $n = main ] && echo 'int main(void) { return lex() + parse() + emit(); }' || echo "int $n(void) { return 0; }")" | put $p/src/$n.c
		printf 'int lex(void);\nint parse(void);\nint emit(void);\n' | put $p/include/$n.h
	done
	for n in lex parse; do printf 'int main(void) { return 0; }\n' | put $p/test/test_$n.c; done
	put $p/Makefile <<-'E'
		.RECIPEPREFIX = >
		OBJ := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))
		build/prog: $(OBJ)
		> $(CC) -o $@ $^
		build/%.o: src/%.c
		> @mkdir -p build
		> $(CC) -Iinclude -O1 -c -o $@.tmp $< && mv $@.tmp $@
	E
	printf 'token=none\n' | put $p/deploy/credentials
	printf '#!/bin/sh\nexit 1\n' | put $p/deploy/release.sh
	echo '# Notes' | put $p/NOTES.md
	known build
	record build run-1.log make
	touch $p/src/lex.c
	record build run-2.log make
	rm -rf $p/build
	record build held-out-1.log make
	printf 'int extra(void) { return 1; }\n' >$p/src/extra.c
	record build held-out-2.log make
}

# --- a git workflow: a branch, two commits, a merge ---

workflow() {
	local p=$base/git n
	mkdir -p $p "$here/git"
	(
		cd $p
		git init -q -b main
		git config user.name Ada
		git config user.email ada@example.org
		for n in login session token; do echo "def $n(): pass" | put src/$n.py; done
		echo '# Auth' >README.md
		echo '*.pyc' >.gitignore
		git add -A
		git commit -qm 'Begin'
		printf 'none\n' | put secrets/key.pem
		printf 'TOKEN=none\n' >.env
		printf 'secrets/\n.env\n' >>.git/info/exclude
	)
	known git
	put $base/work.sh <<-'E'
		set -e
		git checkout -q -b "topic-$1"
		echo "# $1" >>src/login.py
		git add src/login.py
		git commit -qm "Note $1"
		git diff --stat main
		git log --oneline -3
		git checkout -q main
		git merge -q --no-ff -m "Merge $1" "topic-$1"
		git branch -q -d "topic-$1"
		git status --short
	E
	for n in 1 2; do record git run-$n.log sh $base/work.sh $n; done
	for n in 3 4; do record git held-out-$((n - 2)).log sh $base/work.sh $n; done
}

case ${1:-all} in
all) ledger && program && workflow ;;
*) "$1" ;;
esac
