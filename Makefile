# Each of these starts by installing what is missing: see .ci/bootstrap.
.PHONY: help build run test bench lint docs clean

help:
	@echo "make run     set everything up, and show the main job with a server, from registration to the dashboard"
	@echo "make test    set everything up and run the whole suite"
	@echo "make build   the release builds: .build/release/fieldprobe and fieldprobe-server, and collectors to install"
	@echo "make bench   performance beside peers, as ratios"
	@echo "make lint    format, layers, scripts"
	@echo "make docs    the documentation of the library: .build/docs"

build:
	@.ci/bootstrap build
	swift build -c release --static-swift-stdlib --product fieldprobe
	swift build -c release --static-swift-stdlib --product fieldprobe-server
	.ci/host .build/release/fieldprobe-collector-host
	$(MAKE) -C Plugins/Thermal OUTPUT=$(CURDIR)/.build/release/collectors
	install Plugins/SystemLoad/systemload .build/release/collectors/

run:
	@.ci/bootstrap run
	@.ci/demo

test:
	@.ci/bootstrap test
	@.ci/test

bench:
	@.ci/bootstrap bench
	@.ci/bench

lint:
	@.ci/bootstrap build
	@.ci/lint

docs:
	@.ci/bootstrap build
	@.ci/docs

clean:
	rm -rf .build .build-thread .build-address .build-fuzz .build-example
