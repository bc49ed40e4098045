# The commands of this project. Each installs what is missing, builds what it needs, then does its job.
.DEFAULT_GOAL := help
.PHONY: help demo test run lint build clean

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

clean: ## delete everything that was built
	@rm -rf build
