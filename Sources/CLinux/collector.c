// What running a foreign collector needs: its start, and writing to a pipe whose reader may be gone.
#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int clinux_spawn_collector(pid_t *pid, const char *const argv[], const char *const environment[], int in, int out, int err, int status) {
    // Away from the numbers that the child's descriptors get: a process that was started without standard streams has its pipes there.
    int given[4] = {in, out, err, status}, high[4], error = 0;
    for (int i = 0; i < 4; i++) {
        high[i] = given[i] < 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : fcntl(given[i], F_DUPFD_CLOEXEC, 10);
        if (high[i] < 0 && !error) error = errno;
    }
    if (!error) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        for (int i = 0; i < 4; i++) posix_spawn_file_actions_adddup2(&actions, high[i], i);
        posix_spawn_file_actions_addclosefrom_np(&actions, 4);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        // A session of its own is a group of its own, which it cannot leave, and has no terminal to write to behind our back.
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
        error = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)argv, (char *const *)environment);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    for (int i = 0; i < 4; i++)
        if (high[i] >= 0) close(high[i]);
    return -error;
}

ssize_t clinux_write_quietly(int fd, const void *octets, size_t count) {
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    // One that was pending before is somebody else's, and stays.
    sigpending(&pending);
    int was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ssize_t written;
    do written = write(fd, octets, count);
    while (written < 0 && errno == EINTR);
    ssize_t result = written < 0 ? -errno : written;
    if (result == -EPIPE && !was_pending) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int clinux_is_own_child(pid_t pid) {
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int clinux_pipe_content(int fd) {
    int octets = 0;
    return ioctl(fd, FIONREAD, &octets) < 0 ? -errno : octets;
}

int clinux_narrow_pipe(int fd) { return fcntl(fd, F_SETPIPE_SZ, 4096) < 0 ? -errno : 0; }
