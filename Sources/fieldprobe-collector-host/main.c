// fieldprobe-collector-host: what stands between fieldprobe and a collector that is somebody else's code.
#include "host.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc >= 2 && strcmp(argv[1], "launch") == 0) return launch(argc - 2, argv + 2);
    if (argc == 3 && strcmp(argv[1], "library") == 0) return run_library(argv[2]);
    fprintf(stderr,
            "fieldprobe-collector-host is started by fieldprobe, for collectors that are not part of it.\n"
            "usage: fieldprobe-collector-host library FILE\n"
            "       fieldprobe-collector-host launch [--parent PID] [--user NAME] [--memory OCTETS] [--files N] -- PROGRAM...\n");
    return 2;
}
