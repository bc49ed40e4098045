# The commands of this project. Each installs what is missing, builds what it needs, then does its job.
.DEFAULT_GOAL := help
.PHONY: help demo test soak fuzz bench run lint build package image docs clean

ARGS ?=

help: ## list these commands
	@sed -nE 's/^([a-z]+): *## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: ## race several tools on the same resources, first directly, then through armgate, and print the difference
	@scripts/setup build
	@scripts/build release armgate armsim armgate_demo
	@build/release/bin/armgate_demo --armgate build/release/bin/armgate --armsim build/release/bin/armsim $(ARGS)

test: ## run every test: unit, simulation, sanitizers, house rules, end to end
	@scripts/setup build test
	@scripts/run_tests

soak: ## run simulated worlds under fresh seeds on all processors (ARGS="--for 600" is the default)
	@scripts/setup build test
	@scripts/build release gate_sim
	@TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES=$$((1 << 30)) build/release/tests/gate_sim --seeds $$(od -An -N5 -tu8 /dev/urandom | tr -d ' ').. --jobs $$(nproc) --tail 20 --for 600 $(ARGS)

fuzz: ## run every fuzz target for a minute (FUZZ_SECONDS=600: for longer)
	@scripts/setup build fuzz
	@scripts/run_tests fuzz

bench: ## time decisions and guards, then compare with HAProxy, nginx, squid and mitmproxy (ARGS="--rounds 10 --seconds 5": longer)
	@scripts/setup build bench
	@scripts/build release armgate armgate_load armgate_bench
	@build/release/bin/armgate_bench --benchmark_min_time=0.2
	@bench/costs --rounds 2 --plots build/plots
	@bench/compare $(ARGS)

run: ## start armgate in the foreground (ARGS="--config FILE": with your configuration)
	@scripts/setup build
	@scripts/build release armgate
	@build/release/bin/armgate ca path >/dev/null 2>&1 || build/release/bin/armgate ca init
	@build/release/bin/armgate run $(ARGS)

lint: ## check the formatting and run clang-tidy on what changed (ARGS=--all: on everything)
	@scripts/setup build lint
	@scripts/lint $(ARGS)

build: ## build everything, optimised, in build/release
	@scripts/setup build
	@scripts/build release

package: ## build a Debian package with a systemd service, and print its path (docs/install.md)
	@scripts/setup build package
	@scripts/build release armgate
	@scripts/package

image: ## build a container image without a daemon, and print its path (docs/install.md)
	@scripts/setup build
	@scripts/build release armgate
	@scripts/image

docs: ## make a site of the documents in build/site
	@scripts/setup docs
	@scripts/docs

clean: ## delete everything that was built
	@rm -rf build
