# `make` runs every check, as CI does. `make fix` repairs what a program can repair.

TOOL := go tool -modfile=go.tool.mod

.PHONY: all check generated format vet staticcheck modern tidy test race fix

all: check test

check: generated format vet staticcheck modern tidy

generated: # the Go code of every .templ file, from the root: file names stand in it
	go tool templ generate -check

format:
	@files=$$($(TOOL) gofumpt -l .) && if [ -n "$$files" ]; then echo "gofumpt would change:"; echo "$$files"; exit 1; fi

vet:
	go vet ./...

staticcheck: # which checks: staticcheck.conf
	$(TOOL) staticcheck ./...

modern: # code that today's Go says shorter
	go fix -diff ./...

tidy:
	go mod tidy -diff

test:
	go test ./...

race:
	go test -race ./...

fix:
	go tool templ generate
	$(TOOL) gofumpt -w .
	go fix ./...
