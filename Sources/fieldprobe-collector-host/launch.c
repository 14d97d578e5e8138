// What has to happen in the child between its start and the foreign program, and what posix_spawn(3) cannot do: user and limits.
// Faults are told on descriptor 3 as "STAGE ERRNO"; it closes by itself when the program has been started.
#define _GNU_SOURCE
#include "host.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS = 3 };

static int fault(const char *stage, int error) {
    dprintf(STATUS, "%s %d\n", stage, error);
    return 126;
}

static int limit(int resource, const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end) return errno = EINVAL, -1;
    struct rlimit both;
    if (getrlimit(resource, &both) < 0) return -1;
    // Never above what this process has been allowed itself.
    if (both.rlim_max != RLIM_INFINITY && value > both.rlim_max) value = both.rlim_max;
    both.rlim_cur = value;
    both.rlim_max = value;
    return setrlimit(resource, &both);
}

static int become(const char *name) {
    errno = 0;
    struct passwd *user = getpwnam(name);
    if (!user) return errno = errno ? errno : ENOENT, -1;
    if (geteuid() == user->pw_uid && getegid() == user->pw_gid) return 0;
    if (initgroups(name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0) return -1;
    return 0;
}

int launch(int argc, char **argv) {
    fcntl(STATUS, F_SETFD, FD_CLOEXEC);
    const char *user = NULL, *memory = NULL, *files = NULL;
    pid_t parent = 0;
    int index = 0;
    for (; index + 1 < argc && strcmp(argv[index], "--") != 0; index += 2) {
        const char *name = argv[index], *value = argv[index + 1];
        if (strcmp(name, "--parent") == 0) parent = atoi(value);
        else if (strcmp(name, "--user") == 0) user = value;
        else if (strcmp(name, "--memory") == 0) memory = value;
        else if (strcmp(name, "--files") == 0) files = value;
        else return fault("usage", EINVAL);
    }
    if (index + 1 >= argc || strcmp(argv[index], "--") != 0) return fault("usage", EINVAL);

    // Where memory is short, this is what goes first. Before the change of user, after which the file belongs to root.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        if (write(score, "1000", 4) < 0) { /* without /proc it is like any other process */ }
        close(score);
    }
    if (user && become(user) < 0) return fault("user", errno);
    // From here on no program that it starts gains anything by set-user-ID bits or file capabilities.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return fault("privileges", errno);
    // After the change of user, which would clear it. Whoever ended in between has left this process to another parent.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return fault("parent", errno);
    if (parent && getppid() != parent) return fault("parent", ESRCH);
    if (limit(RLIMIT_CORE, "0") < 0) return fault("limits", errno);
    if (files && limit(RLIMIT_NOFILE, files) < 0) return fault("limits", errno);
    if (chdir("/") < 0) return fault("folder", errno);
    // Last, so that it binds the program and not what had to be done before.
    if (memory && limit(RLIMIT_DATA, memory) < 0) return fault("limits", errno);
    execv(argv[index + 1], argv + index + 1);
    return fault("exec", errno);
}
