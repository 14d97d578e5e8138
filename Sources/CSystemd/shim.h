// sd-bus is half variadic, which Swift cannot call: one static inline function for each shape of call that we make.
#pragma once
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
