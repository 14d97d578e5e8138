// The two things that this program does, each in a file of its own.
#pragma once

/// Takes on the limits and the user that the arguments name, and becomes the program behind "--". Returns only if it could not.
int launch(int argc, char **argv);

/// Loads a shared library and speaks the collector protocol for it. The exit status.
int run_library(const char *path);
