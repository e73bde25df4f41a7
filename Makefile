# Nothing but Go is needed to build. "make test" installs what the tests run for real.

GO       ?= go
export CGO_ENABLED = 0
# Modules of their own that hold heavy dependencies of tests only.
NESTED   := $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path './.git/*'))
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test setup check unit bench fuzz docs clean

build: ## One static binary, bin/umwelt.
	$(GO) build -trimpath -ldflags='-s -w' -o bin/umwelt ./cmd/umwelt

test: setup check unit ## Everything that must hold.

setup:
	@echo '== setup: the outside programs that the tests run'
	@internal/ci/setup.sh

check:
	@echo '== gofmt'
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi
	@echo '== go vet'
	$(GO) vet ./...
	@for m in $(NESTED); do echo "== go vet in $$m"; (cd $$m && $(GO) vet ./...) || exit 1; done
	@echo '== staticcheck'
	$(GO) run $(STATICCHECK) ./...
	@for m in $(NESTED); do echo "== staticcheck in $$m"; (cd $$m && $(GO) run $(STATICCHECK) ./...) || exit 1; done

unit:
	@echo '== go test'
	UMWELT_REQUIRE_TOOLS=1 $(GO) test ./...
	@for m in $(NESTED); do echo "== go test in $$m"; (cd $$m && UMWELT_REQUIRE_TOOLS=1 $(GO) test ./...) || exit 1; done

bench: ## Every benchmark, each beside its peer.
	$(GO) test -run '^$$' -bench . -benchmem ./...
	@for m in $(NESTED); do echo "== go test -bench in $$m"; (cd $$m && $(GO) test -run '^$$' -bench . -benchmem ./...) || exit 1; done

fuzz: ## Every fuzz target for FUZZTIME (10m) each.
	@internal/ci/fuzz.sh

docs: ## The reference, made from the program.
	@mkdir -p docs/reference
	$(GO) run ./cmd/umwelt doc codes -o docs/reference/codes.md
	$(GO) run ./cmd/umwelt doc vocabulary -o docs/reference/vocabulary.md
	$(GO) run ./cmd/umwelt doc commands -o docs/reference/commands.md

clean:
	rm -rf bin
