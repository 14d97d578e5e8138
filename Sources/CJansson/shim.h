// JSON (RFC 8259) for the collector host, which is written in C so that a shared library's process needs no other run-time library.
#pragma once
#include <jansson.h>
