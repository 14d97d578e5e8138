// What running somebody else's command transparently needs: its signals, its end, and its pipes.
#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

int clinux_spawn_command(pid_t *pid, const char *const argv[], int in, int out, int err, const int *reset, size_t reset_count,
                         const int *kept, int kept_count) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (in >= 0) posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (err >= 0) posix_spawn_file_actions_adddup2(&actions, err, 2);
    if (kept_count >= 0) {
        // In the child, whose table nobody else changes any more: what another thread has opened a moment ago goes too.
        int next = 3;
        for (int i = 0; i < kept_count; i++) {
            for (; next < kept[i]; next++) posix_spawn_file_actions_addclose(&actions, next);
            if (next == kept[i]) next++;
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, next);
    }
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < reset_count; i++) sigaddset(&defaults, reset[i]);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -error;
}

int clinux_is_ignored(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) < 0) return -errno;
    return action.sa_handler == SIG_IGN;
}

static volatile int relay_target = -1;

static void relay(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    unsigned char octet = (unsigned char)(number & 0x7F);
    if (info->si_code <= 0) octet |= 0x80;
    if (relay_target >= 0 && write(relay_target, &octet, 1) < 0) { /* a full pipe already wakes the reader */ }
    errno = saved;
}

int clinux_relay_signals_to(int fd, const int *signals, size_t count) {
    relay_target = fd;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = relay;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++)
        if (sigaction(signals[i], &action, NULL) < 0) return -errno;
    return 0;
}

void clinux_die_by(int number) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    // To this thread: what kill(2) sends to the process may reach another one, after this one has gone on.
    raise(number);
}

int clinux_pipe_capacity(int fd) {
    int size = fcntl(fd, F_GETPIPE_SZ);
    return size < 0 ? -errno : size;
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }
