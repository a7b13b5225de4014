# Thin front of Meson: `make demo` shows the main job, `make check` runs every test.
BUILD  ?= build
PREFIX ?= /usr/local

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
deps:
	@tools/deps build test
$(BUILD)/build.ninja:
	@tools/deps build
	@meson setup $(BUILD) --prefix $(PREFIX) --buildtype debugoptimized >/dev/null
demo: all
	$(BUILD)/weir lab --rate 1gbit --rtt 100ms -- weir tune far
check:
	@tools/deps build test
	@tools/check
bench: all
	@tools/deps build test
	@bench/run
install: all
	@meson configure $(BUILD) --prefix $(PREFIX)
	@meson install -C $(BUILD) --quiet
clean:
	@rm -rf $(BUILD) build-*
.PHONY: all deps demo check bench install clean
