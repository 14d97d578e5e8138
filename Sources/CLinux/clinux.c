#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif

extern char **environ;

const int clinux_CLONE_NEWNET = CLONE_NEWNET;

static int result(long value) { return value < 0 ? -errno : (int)value; }

static int64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int clinux_eventfd(void) { return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int clinux_pidfd_open(pid_t pid) { return result(syscall(SYS_pidfd_open, pid, 0)); }

int64_t clinux_boottime_ns(void) { return nanoseconds(CLOCK_BOOTTIME); }

int64_t clinux_realtime_ns(void) { return nanoseconds(CLOCK_REALTIME); }

int clinux_poll(struct pollfd *fds, size_t count, int64_t timeout_ns) {
    // A century is for ever, and cannot overflow.
    const int64_t century = INT64_C(3155760000000000000);
    if (timeout_ns > century) timeout_ns = century;
    int64_t end = timeout_ns < 0 ? 0 : clinux_boottime_ns() + timeout_ns;
    for (;;) {
        struct timespec left, *wait = NULL;
        if (timeout_ns >= 0) {
            int64_t ns = end - clinux_boottime_ns();
            if (ns < 0) ns = 0;
            left.tv_sec = ns / 1000000000;
            left.tv_nsec = ns % 1000000000;
            wait = &left;
        }
        int ready = ppoll(fds, count, wait, NULL);
        if (ready >= 0) return ready;
        if (errno != EINTR) return -errno;
    }
}

int clinux_clock_synchronised(void) {
    struct timex t;
    memset(&t, 0, sizeof t);
    if (adjtimex(&t) < 0) return -errno;
    return (t.status & STA_UNSYNC) ? 0 : 1;
}

pid_t clinux_gettid(void) { return (pid_t)syscall(SYS_gettid); }

void clinux_name_thread(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    pthread_setname_np(pthread_self(), cut);
}

int clinux_renice_thread(int nice) {
    return setpriority(PRIO_PROCESS, (id_t)clinux_gettid(), nice) < 0 ? -errno : 0;
}

int clinux_unshare(int flags) { return result(unshare(flags)); }

void clinux_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

int clinux_set_cloexec(int fd, int on) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) return -errno;
    return result(fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC));
}

int clinux_set_nonblocking(int fd, int on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    return result(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

int clinux_open(const char *path, int flags, mode_t mode) { return result(open(path, flags | O_CLOEXEC, mode)); }

const char *clinux_strerror(int error, char *buffer, size_t capacity) { return strerror_r(error, buffer, capacity); }

int clinux_openpty_raw(int *master, int *slave) {
    // Not openpty(3): its descriptors would be open for a child that another thread starts in between.
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0) return -errno;
    if (grantpt(*master) < 0 || unlockpt(*master) < 0
        || (*slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        int error = errno;
        close(*master);
        return -error;
    }
    struct termios mode;
    if (tcgetattr(*slave, &mode) == 0) {
        cfmakeraw(&mode);
        tcsetattr(*slave, TCSANOW, &mode);
    }
    return 0;
}

int clinux_copy_window_size(int from, int to) {
    struct winsize size;
    if (ioctl(from, TIOCGWINSZ, &size) < 0) return -errno;
    return result(ioctl(to, TIOCSWINSZ, &size));
}

int clinux_spawn(pid_t *pid, const char *const argv[], const char *const environment[], int in, int out, int err) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // dup2 onto itself would leave FD_CLOEXEC set; glibc clears it for equal descriptors in this action.
    if (in >= 0) posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (err >= 0) posix_spawn_file_actions_adddup2(&actions, err, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv,
                             environment ? (char *const *)environment : environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -error;
}

pid_t clinux_waitpid(pid_t pid, int *status, int options) {
    for (;;) {
        pid_t ended = waitpid(pid, status, options);
        if (ended >= 0) return ended;
        if (errno != EINTR) return -errno;
    }
}

int clinux_exited(int status) { return WIFEXITED(status); }
int clinux_exit_status(int status) { return WEXITSTATUS(status); }
int clinux_term_signal(int status) { return WTERMSIG(status); }

void clinux_default_signals(const int *signals, size_t count) {
    for (size_t i = 0; i < count; i++) signal(signals[i], SIG_DFL);
}

int clinux_bound_ifindex(int family) {
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int index = 0;
    socklen_t length = sizeof index;
    int failed = getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &index, &length) < 0 ? -errno : 0;
    close(fd);
    return failed ? failed : index;
}

int clinux_boottime_timer(void) { return result(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)); }

int clinux_boottime_timer_set(int fd, int64_t at_ns) {
    struct itimerspec time;
    memset(&time, 0, sizeof time);
    if (at_ns >= 0) {
        // A time of zero would turn the timer off.
        if (at_ns == 0) at_ns = 1;
        time.it_value.tv_sec = at_ns / 1000000000;
        time.it_value.tv_nsec = at_ns % 1000000000;
    }
    return result(timerfd_settime(fd, TFD_TIMER_ABSTIME, &time, NULL));
}

size_t clinux_heap_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
