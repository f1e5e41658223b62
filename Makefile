# Stallmark. `make run` shows this host in a browser, `make test` passes every test; both install what they need.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
DATA     ?= .build/data
LISTEN   ?= 127.0.0.1:8411
GOFILES   = $(shell git ls-files '*.go' ':!:*_templ.go')

.PHONY: run test build bench bench-go bench-logs bench-cost bench-storm drill lab guest lint generate setup-test clean install uninstall

## run: build and serve this host on http://$(LISTEN), data in $(DATA)
run: bin/stallmark
	./bin/stallmark serve --listen $(LISTEN) --data $(DATA)

bin/stallmark: FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/stallmark

## build: static binaries for amd64 and arm64 in bin/
build:
	for arch in amd64 arm64; do \
	  for program in stallmark stalldrill; do \
	    CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/$$program-linux-$$arch ./cmd/$$program || exit 1; \
	  done; \
	done

## test: every test, with the race detector and a real browser
test: setup-test
	STALLMARK_BROWSER=1 CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 25m ./...

# The race detector needs a C compiler, the browser test needs Chromium.
setup-test:
	@.ci/need cc gcc libc6-dev
	@.ci/need chromium chromium

## bench: the figures of ARCHITECTURE.md; wants an otherwise idle machine
bench: bench-go bench-logs bench-cost bench-storm

bench-go:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 1h ./...

# The recorder beside sadc, node_exporter and atop. SECONDS_MEASURED=120 WARMUP=30 THREADS=100
bench-cost: bin/stallmark
	@.bench/cost

# The beat under real stalls, beside a bare ticker; as root. STORMS="dirty-throttling swap-in" SECONDS_STORM=30
bench-storm: bin/stallmark bin/stalldrill
	@.bench/storm

# A log with 100,000 matching lines a second. SECONDS_LOGGED=20
bench-logs: bin/stallmark
	@.bench/logs

# Each drill beside a recorder of its own; as root, on a machine that nobody needs meanwhile. A subset:
#   make drill DRILLS="dirty-throttling idle" TIMES=1
# Verdicts are kept in .build/drills/results.jsonl and the next piece goes on from them; TIMES=0 prints the whole matrix.
DRILLS    ?=
TIMES     ?= 3
DRILLARGS ?= --dir /var/tmp --recordings .build/drills --results .build/drills/results.jsonl
## drill: stall this machine in every way, and print what the recorder says to each; exit code 1 if a cell is wrong
drill: bin/stallmark bin/stalldrill
	@mkdir -p .build/drills
	./bin/stalldrill matrix $(DRILLS) --times $(TIMES) --yes --stallmark bin/stallmark $(DRILLARGS)

# Real brokers from Maven Central, stalled beside a recorder of their own; as root for all cases, about 2 GB of memory and 10 GB of disk.
#   make lab BROKERS=kafka-3.9.1 CASES=quiet,dirty LABARGS=--keep
BROKERS ?= rocketmq-5.3.3,kafka-3.9.1,rocketmq-4.9.4,kafka-4.1.1
CASES   ?=
LABARGS ?=
## lab: stall real RocketMQ and Kafka brokers, and print what is said of each; exit code 1 if a cell is wrong
lab: bin/stallmark bin/stalldrill
	@mkdir -p .build/lab
	$(GO) run ./.lab --brokers '$(BROKERS)' --cases '$(CASES)' $(LABARGS)

# Needs no virtualisation in the processor, but is ten times faster with it. A part of it:
#   make guest GUESTS="trixie bullseye" CASES="install numa"
## guest: cases that need another machine, in QEMU guests without a network; as root; exit code 1 if one is wrong
guest: bin/stallmark bin/stalldrill
	@GUESTS='$(GUESTS)' CASES='$(CASES)' .bench/guest

bin/stalldrill: FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/stalldrill

## lint: formatting, vet, staticcheck, stale generated files, untidy go.mod, known vulnerabilities
lint:
	@.ci/lint $(GOFILES)

## generate: the templ components
generate:
	$(GO) tool templ generate -path web

# Where things go. DESTDIR is put before all of it, for packages.
DESTDIR    ?=
PREFIX     ?= /usr/local
SYSCONFDIR ?= /etc
BINDIR     ?= $(PREFIX)/bin
UNITDIR    ?= $(PREFIX)/lib/systemd/system
MANDIR     ?= $(PREFIX)/share/man
BASHDIR    ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
FISHDIR    ?= $(PREFIX)/share/fish/vendor_completions.d
STALLMARK  ?= bin/stallmark
CONFIG      = $(DESTDIR)$(SYSCONFDIR)/stallmark/stallmark.yaml

# What has been built is installed as it is: root may have no Go.
## install: binary, systemd unit, configuration (never over an existing one), completions, manual page
install:
	test -x $(STALLMARK) || $(MAKE) bin/stallmark
	install -D -m 0755 $(STALLMARK) $(DESTDIR)$(BINDIR)/stallmark
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	sed 's|@BINDIR@|$(BINDIR)|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' .install/stallmark.service > $(DESTDIR)$(UNITDIR)/stallmark.service
	test -e $(CONFIG) || install -D -m 0644 .install/stallmark.yaml $(CONFIG)
	$(STALLMARK) manual > $(DESTDIR)$(MANDIR)/man8/stallmark.8
	$(STALLMARK) completion bash > $(DESTDIR)$(BASHDIR)/stallmark
	$(STALLMARK) completion zsh > $(DESTDIR)$(ZSHDIR)/_stallmark
	$(STALLMARK) completion fish > $(DESTDIR)$(FISHDIR)/stallmark.fish
	@echo 'To start it: systemctl daemon-reload && systemctl enable --now stallmark'

## uninstall: what install has put there, but for configuration and data
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/stallmark $(DESTDIR)$(UNITDIR)/stallmark.service $(DESTDIR)$(MANDIR)/man8/stallmark.8
	rm -f $(DESTDIR)$(BASHDIR)/stallmark $(DESTDIR)$(ZSHDIR)/_stallmark $(DESTDIR)$(FISHDIR)/stallmark.fish
	@echo 'Left: $(SYSCONFDIR)/stallmark and /var/lib/private/stallmark'

clean:
	rm -rf bin .build

FORCE:
