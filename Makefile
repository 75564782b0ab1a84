# The two commands to know are `make run` and `make test`.

GO      ?= go
BIN     := bin/adgateway
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X adgateway/cmd/adgateway/internal/cli.version=$(VERSION) -X main.version=$(VERSION)
FUZZTIME ?= 1000x
BENCHTIME ?= 300ms
SOAK    ?= 10m
SEED    ?=
POWERSHELL ?= pwsh

# No test may depend on the speed of a machine. This limit only ends tests that hang.
HANG := -timeout 60m

# gin includes a MessagePack codec, 6 MB that no endpoint uses. Without file paths in the
# binaries, all clones share the build cache.
export GOFLAGS := -tags=nomsgpack -trimpath

# The enabled checks of staticcheck: correctness (SA*), simplifications (S1*), unused code (U1*),
# and the style rules that find defects. ST1000 requires a comment on every package. QF1003 finds
# chains of if that should be a switch; staticcheck runs it only with -debug.run-quickfix-analyzers.
LINTS := SA*,S1*,U1*,ST1000,ST1005,ST1008,ST1012,ST1019,ST1020,ST1021,ST1022,QF1003

.PHONY: help run run-three build test plain generate deep lint vet-windows deadcode tidy thorough race fuzz cover trace bench bench-once grammar clients clients-dns terraform-test pages monitoring conformance soak upgrade-test release release-check ansible-test kerberos-test wine-test sign-check clean

run: build ## starts the sandbox with its built-in domain, on LISTEN (127.0.0.1:8080), and prints what to try
	./$(BIN) sandbox $(if $(LISTEN),--listen $(LISTEN))

run-three: build ## three gateways and three nodes of the engine on this computer, behind caddy or nginx if there is one
	@./test/three.sh

# An older version of Go that cannot download the required one reports syntax errors in go.mod.
NEEDED := $(shell sed -n 's/^go //p' go.mod)

.PHONY: go-version
go-version:
	@have=$$($(GO) version 2>&1) || have="not there, or stops: $$have"; \
	number=$$(echo "$$have" | sed -n 's/^go version \(devel \)*go\([0-9.]*\).*/\2/p'); \
	if [ "$$(printf '%s\n' "$(NEEDED)" "$${number:-0}" | sort -V | head -n 1)" != "$(NEEDED)" ]; then \
		echo "Go $(NEEDED) or later is needed (https://go.dev/dl/); make GO=... names another one. '$(GO)' is $${number:-$$have}"; exit 1; fi; \
	$(GO) mod download

help: ## the targets by purpose
	@list() { echo "$$1:"; shift; for target; do \
		sed -n "s/^$$target:.*## /$$target	/p" Makefile | awk -F '\t' '{printf "  %-18s %s\n", $$1, $$2}'; done; }; \
	list 'To try it' help build run run-three clean; \
	list 'Before a commit' test plain lint tidy deadcode generate; \
	list 'What takes longer' deep thorough race fuzz vet-windows soak upgrade-test cover; \
	list 'Figures' bench bench-once trace; \
	list 'Other programs against the sandbox' clients clients-dns terraform-test ansible-test kerberos-test pages monitoring grammar conformance; \
	list 'Releases' release release-check sign-check wine-test

build: go-version ## both programs, in bin
	@[ -e $(BIN) ] || echo "building; the first time takes one to two minutes"
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/adgateway
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN)-engine ./cmd/adgateway-engine

# plain includes the tests that lint runs. Finding dead code takes as long as all other checks
# together, so only lint and deep do it.
test: go-version ## run this before a commit: lint without dead code, and the plain tests
	@$(MAKE) --no-print-directory -j3 checks plain

# Tests that start whole clusters, that start a gateway again and again, or that link the whole product for
# only a few tests. `make thorough` and `make race` run them. For clusters, TestTheLeaderIsKilled stays in
# `make test`.
LONG := TestTakeovers|TestASingleGatewayGrows|TestAnOldClusterMigrates|TestAllHostsAreRestored|TestAWallClockIsWrong|TestANATSOfTheUsersOwn|TestTheNodesMakeTheLog|TestForHowLongNothingIsAcknowledged|TestNothingIsLostWhateverFails|TestTheScriptsOfALeaderThatIsCutOff|TestALeaderThatStoodStillMakesWhatWasInFlightAtMost|TestAChangeOfALeaderThatIsKilledIsJudgedOnce|TestAScriptContinuesAfterItsGatewayHasStoppedLeading|TestAnEndThatNoLeaderTakesIsUnknown|TestAJobGoesOnAtTheNextLeader|TestAJobHasTheRightsOfTheNextLeader|TestWhatIsSpentCountsAtTheNextLeader|TestANameStaysWithItsControllerOverATakeover|TestWithoutALeader|TestAnAnswerThatDoesNotCome|TestTheRecordOfTheCluster|TestKilledInAJob|TestKilledAtTheAnswer|TestAGatewayOfACluster|TestWrongStoresAndListsAreRefused|TestOverThreeNodes|TestAsADriver|TestSoak|TestALongListIsNotHeldInMemory|TestAClientLeavesDuringALongList|TestAFailedTestShowsTheLogOfItsServerErrors|TestARequestWithoutAnAnswerShowsTheGoroutines

# Tests with programs of MIT Kerberos, Samba and Chromium, which `make kerberos-test` runs.
KERBEROS := TestARealAuthority|TestTicketsMustBeBound|TestADomainOfSamba|TestChromiumSignsInByATicket

# Many tests wait for processes, elections and expiries, so more tests run at once than there are
# cores.
OVERLAP := -p 4 -parallel 4

# Packages whose tests take minutes, most of them waiting: they start before the others.
FIRST := ./test/story,./gateway,./gateway/store,./cmd/adgateway/internal/cli,./test/pages,./gateway/cluster/replica,./test/processes,./test/hostile,./test/contract,./test/fleet,./cmd/adgateway/setup,./gateway/cluster/relay

# Packages whose tests are all LONG.
LATER := ./gateway/journal/jetstream ./test/kill ./test/load ./test/replicas ./test/soak ./test/systemtest

# Packages whose tests need what only other targets provide: `make conformance` and `make upgrade-test`.
APART := ./test/conformance ./test/upgrade

# Without symbols and debug tables, the hundred test binaries take a third less time to link. Packages without
# tests are left out, as are LATER and APART.
plain: go-version ## all tests except those that only `make deep` runs
	@echo "testing; each package says so when it has passed"; \
	packages=$$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...) && \
	packages=$$(echo "$$packages" | grep -vxF $(patsubst ./%,-e adgateway/%,$(LATER) $(APART))) && \
	$(GO) run ./test/gotest -first $(FIRST) $(HANG) -vet=off -ldflags='-s -w' $(OVERLAP) -skip '^($(LONG)|$(KERBEROS))$$' $$packages

# Tests that compare derived files with their sources, and rewrite the files with -update.
# The other packages embed what TestDeclarationsAreUpToDate writes.
DECLARED := TestDeclarationsAreUpToDate
DERIVED := -run '^(TestDocumentMatchesTheGoldenFile|TestModulesAreGeneratedAsShown|TestFunctionsAreGeneratedAsShown|TestManualTablesAreUpToDate|TestMembersTable|TestTheRowsAreAsListed|TestPagesOfOperationsAreUpToDate|$(DECLARED))$$' \
	./scripts ./gateway/openapi ./cmd/release/clients ./cmd/adgateway/internal/cli ./ps/sandbox/engine/dotnet ./gateway/ops ./test/reference

generate: ## writes the generated files that are committed: declarations of scripts, OpenAPI document, tables and pages of the manual, clients, members of .NET
	$(GO) test -vet=off -count=1 -run '^$(DECLARED)$$' ./scripts -update > /dev/null
	$(GO) test -vet=off -count=1 $(DERIVED) -update > /dev/null

deep: vet-windows deadcode thorough race fuzz bench-once kerberos-test ## everything that takes longer: vet for Windows, dead code, all cases of every test, race detector, fuzzing, benchmarks once, tickets of a real authority

# Linters and tests run for seconds only, so they collect garbage less often if there is enough
# memory.
test lint plain: export GOGC ?= 1600
plain: export GOMEMLIMIT ?= 1GiB

# Tests of texts: no tracked file contains conflict markers of a merge, and every citation of a
# fact resolves.
TEXTS := ^(TestNoConflictMarkers|TestFactsResolve|TestNoOtherPageIsCited)$$

lint: checks deadcode ## formatting, vet, staticcheck, dead code, and whether generated files are up to date
	$(GO) test $(HANG) -vet=off -ldflags='-s -w' -run '$(TEXTS)' ./test/layout ./scripts
	@$(GO) test $(HANG) -vet=off -ldflags='-s -w' $(DERIVED) || { echo "what is derived is not up to date: run make generate"; exit 1; }

# deadcode type-checks the code for Windows, and vet-windows vets it.
.PHONY: checks format vet staticcheck
checks: format tidy vet staticcheck

format:
	@unformatted=$$(gofmt -l cmd gateway ps scripts test winsvc); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

vet:
	$(GO) vet ./...

# staticcheck uses the packages that vet has compiled.
staticcheck: vet
	$(GO) tool staticcheck -debug.run-quickfix-analyzers -checks '$(LINTS)' ./...

vet-windows: ## vet on every system that a release is built for
	GOOS=windows $(GO) vet ./...
	GOOS=windows GOARCH=arm64 $(GO) vet ./winsvc/... ./ps/session/... ./cmd/...

deadcode: ## functions that no command reaches on Linux or Windows
	./test/deadcode.sh

tidy: ## checks that `go mod tidy` would not change go.mod or go.sum
	@out=$$($(GO) mod tidy -diff 2>&1) || { echo "$$out"; exit 1; }

# Packages with concurrent code. The other packages, and the tests in SEQUENTIAL, send many
# thousands of requests one after another, so `make test` runs them without the race detector.
RACE := ./cmd/adgateway/... ./gateway ./gateway/audit ./gateway/auditmirror ./gateway/authn/... ./gateway/bounds ./gateway/call \
	./gateway/changes ./gateway/cluster/... ./gateway/config ./gateway/credentials ./gateway/history \
	./gateway/idempotency ./gateway/identity ./gateway/jobs/... ./gateway/journal/... ./gateway/keyring ./gateway/names \
	./gateway/plan ./gateway/quota ./gateway/settle ./gateway/store ./gateway/tlscert ./gateway/transport ./gateway/write \
	./ps/pool ./ps/servers ./ps/session/... ./ps/sandbox ./ps/sandbox/zones ./ps/sandbox/remote/... \
	./winsvc/... ./test/faults ./test/fleet ./test/hostile ./test/kill ./test/load ./test/processes ./test/soak ./test/systemtest
SEQUENTIAL := TestHostileValues|TestObjectsOutsideTheLimitsSeemMissing|TestEveryDocumentIsServed|TestEveryScopeIsRequired|TestDuplicateUnknownAndMistypedParameters|TestMissingAndEmptyParameters|TestExamplesOfTheModuleRun

race: ## the tests of concurrent code with the race detector
	$(GO) test -race -vet=off $(HANG) -skip '^($(SEQUENTIAL))$$' $(RACE)
	$(GO) test $(HANG) -race -vet=off -run '^(TestCancel|TestHeapOfOthers|TestNoGoroutineIsLeft|TestConcurrency)$$' ./ps/sandbox/engine ./ps/sandbox/directory

# Packages with tests that try only some of their cases in `make test`.
SHARES := ./cmd/adgateway/internal/cli ./gateway ./gateway/history ./gateway/openapi ./test/contract ./test/faults ./test/fleet ./test/hostile ./test/odd ./test/pages ./test/processes ./test/protocols ./test/realengine ./test/replicas ./test/search ./test/secrets ./test/story

thorough: ## the long tests, and all cases of the tests that run only a share of them in `make test`: values, faults, takeovers
	THOROUGH=1 $(GO) test $(HANG) -vet=off -ldflags='-s -w' $(OVERLAP) $(SHARES)

fuzz: ## every fuzz target for FUZZTIME, runs (1000x) or a time (10m)
	./test/fuzz.sh $(FUZZTIME)

cover: ## the share of the sandbox's engine and of the parser that scripts run
	./test/cover.sh

trace: ## the functions and files that one call enters, by coverage, for test/BENCHMARKS.md
	$(GO) run ./test/trace

bench: ## figures for test/BENCHMARKS.md, as tables
	@{ $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(HANG) ./... || echo FAILED; } | awk -f test/bench.awk

bench-once: ## runs every benchmark once, to find broken ones
	@out=$$($(GO) test $(HANG) -vet=off -run '^$$' -bench . -skip '^BenchmarkStockReader$$' -benchtime 1x ./...) || { echo "$$out"; exit 1; }

# A release of the same commit has the same bytes, because all its times are the time of the commit.
MSI     := $(if $(and $(shell command -v wixl),$(shell command -v msibuild),$(shell command -v faketime)),-msi)
RELEASE = SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) run ./cmd/release -version $(VERSION) -commit $$(git rev-parse HEAD) $(if $(RELEASE_URL),-url $(RELEASE_URL)) $(if $(MANUAL_URL),-manual $(MANUAL_URL)) $(MSI)

release: ## zips of both programs for each system, and an MSI of each for each Windows, in dist; SIGN_CERT, SIGN_KEY (PEM) and TSA (URL) sign the files for Windows; MANUAL_URL is for Get-Help -Online
	@[ -n "$(MSI)" ] || echo "no MSI is built: wixl, msibuild or faketime is missing (apt-get install wixl msitools faketime)"
	@[ -n "$(RELEASE_URL)" ] || echo "no manifests for winget and Scoop are written: they need RELEASE_URL, the folder that the files will be downloaded from"
	$(RELEASE) -out dist $(if $(SIGN_CERT),-sign-certificate $(SIGN_CERT) -sign-key $(SIGN_KEY) $(if $(TSA),-sign-timestamps $(TSA)))

sign-check: ## signs with a temporary certificate, and verifies that tampering is detected (needs osslsigncode)
	@command -v osslsigncode >/dev/null || { echo "osslsigncode is missing (apt-get install osslsigncode)"; exit 1; }
	$(GO) test -count=1 $(HANG) ./cmd/release -run '^TestSigning$$' -sign

wine-test: ## the executables and the MSIs for Windows under Wine; names missing tools
	./test/wine.sh

ansible-test: build ## the Ansible collection of the release against the sandbox; as root on Debian, installs missing packages
	./test/ansible.sh $(BIN)

kerberos-test: ## sign-in with tickets of MIT Kerberos and of a Samba domain; as root on Debian, installs missing packages
	@PATH=$$PATH:/usr/sbin ./test/tools.sh krb5-kdc=krb5kdc krb5-admin-server=kadmin.local krb5-user=kinit curl=curl faketime=faketime
	@PATH=$$PATH:/usr/sbin ./test/tools.sh samba=samba samba-ad-provision=/usr/share/samba/setup/provision.ldif samba-dsdb-modules=/usr/share/samba/setup/provision.ldif python3-samba=samba-tool ldb-tools=ldbsearch chromium=chromium || echo "what these are for is skipped"
	KERBEROS=1 $(GO) test -count=1 $(HANG) -vet=off ./cmd/adgateway/internal/cli -run '^($(KERBEROS))$$'

release-check: RELEASE_URL ?= https://downloads.corp.example/adgateway
release-check: ## builds a release twice, compares the files byte for byte, and runs the programs
	$(GO) test -count=1 $(HANG) ./cmd/release -run '^(TestTheZipOfTheEngine|TestPagesOfARelease)$$' -builds
	rm -rf dist/first dist/second
	$(RELEASE) -out dist/first
	$(RELEASE) -out dist/second
	cd dist/first && sha256sum -c ../second/SHA256SUMS

conformance: ## records the behavior of the PowerShell in POWERSHELL=... in dist/conformance, and reports differences
	POWERSHELL='$(POWERSHELL)' $(GO) test -count=1 -v $(HANG) ./test/conformance -run '^TestRecord$$' -out $(CURDIR)/dist/conformance

grammar: ## checks all PowerShell texts against tree-sitter's grammar (needs node and npm)
	cd test/grammar && npm ci
	GRAMMAR=1 $(GO) test $(HANG) -count=1 -v ./test/grammar

clients: build ## tests clients that three programs generate from the OpenAPI documents, against the sandbox (needs node and npm)
	cd test/generated && npm ci
	./test/generated/run.sh $(CURDIR)/$(BIN)

clients-dns: ## lego with an ACME authority, and an acme-dns client, against the sandbox, in their own Go module
	cd test/clients && $(GO) vet . && $(GO) test -count=1 $(HANG) -v .

terraform-test: ## the examples for Terraform against the sandbox, with the calls of their provider
	cd test/clients && $(GO) test -count=1 $(HANG) -v -run '^TestTerraformExamples$$' .

pages: build ## the pages for people in headless Chromium, with their pictures in dist/pages (needs Chromium and npm)
	cd test/browser && npm ci
	cd test/browser && $(GO) vet . && $(GO) test -count=1 $(HANG) -v . -program $(CURDIR)/$(BIN) -pictures $(CURDIR)/dist/pages
	mkdir -p test/browser/testdata
	cp dist/pages/person-light-1280.png test/browser/testdata/person.png
	cp dist/pages/preview-light-1280.png test/browser/testdata/preview.png

monitoring: ## the alert rules, their tests and the queries of the dashboard (needs promtool)
	@command -v promtool >/dev/null || { echo "promtool is missing; it comes with Prometheus (apt-get install prometheus)"; exit 1; }
	cd cmd/release/monitoring && promtool check rules adgateway.rules.yml && promtool test rules tests.yml
	mkdir -p dist
	$(GO) test $(HANG) -count=1 ./cmd/release -run '^TestTheDashboardIsAboutWhatIsMeasured$$' -dashboard-rules $(CURDIR)/dist/dashboard.rules.yml
	promtool check rules dist/dashboard.rules.yml
	awk '/^```/ {f = 0} f {print} /^```yaml/ && last == "<!-- prometheus.yml -->" {f = 1} {last = $$0}' gateway/manual/monitoring.md > dist/prometheus.yml
	promtool check config --syntax-only dist/prometheus.yml

soak: ## random clients on processes that fail, for SOAK (10m); SEED=n repeats their requests
	SETTLE=all $(GO) test -count=1 $(HANG) -run '^TestEveryWriteIsSettled$$' ./test/faults
	KILLS=100 $(GO) test -count=1 $(HANG) -run '^TestKilledAtTheAnswer$$' ./cmd/adgateway/internal/cli
	JOB_ITEMS=10000 KILL_EVERY_MS=5000 $(GO) test -count=1 -timeout 120m -v -run '^TestKilledInAJob$$' ./test/kill
	THOROUGH=1 FAULTS=200 ROUNDS=20 SEED=$(or $(SEED),1) $(GO) test -count=1 -timeout 90m -v ./test/replicas
	THOROUGH=1 FAULTS=150 TAKEOVERS=20 LOOKS=5 SEED=$(or $(SEED),1) $(GO) test -count=1 -timeout 90m -v ./test/fleet
	SOAK=$(SOAK) SEED=$(SEED) $(GO) test -count=1 -timeout 0 -v -run '^TestSoak$$' ./test/soak

upgrade-test: ## a gateway and a cluster of OLD (a commit or tag; else the last tag, or the 50th commit before HEAD) are upgraded under load and rolled back
	OLD='$(OLD)' GO='$(GO)' ./test/upgrade.sh

clean: ## removes bin and dist
	rm -rf bin dist
