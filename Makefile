# Each of these starts by installing what is missing: see .ci/bootstrap.
.PHONY: help build run test bench lint clean

help:
	@echo "make run     set everything up, run a measurement with both collectors beside it, show its report"
	@echo "make test    set everything up and run the whole suite"
	@echo "make build   the release build of fieldprobe: .build/release/fieldprobe"
	@echo "make bench   performance beside peers, as ratios"
	@echo "make lint    format, layers, scripts"

build:
	@.ci/bootstrap build
	swift build -c release --static-swift-stdlib --product fieldprobe

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

clean:
	rm -rf .build .build-thread .build-address
