// What Swift's Glibc module lacks: everything behind _GNU_SOURCE, headers that its map leaves out, and variadic calls.
// Each wrapper returns what the call returns, and -errno (never -1) where it says so, so that errno cannot be
// overwritten between C and Swift.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <poll.h>

/// eventfd(2), close-on-exec and non-blocking. The descriptor, or -errno.
int clinux_eventfd(void);

/// pidfd_open(2): a descriptor that becomes readable when the process ends. The descriptor, or -errno.
int clinux_pidfd_open(pid_t pid);

/// poll(2), restarted on EINTR with what is left of the time on CLOCK_BOOTTIME. timeout_ns < 0 waits for ever.
/// The number of ready descriptors, 0 at the time-out, or -errno.
int clinux_poll(struct pollfd *fds, size_t count, int64_t timeout_ns);

/// Nanoseconds of CLOCK_BOOTTIME: runs on while the machine is suspended, and no clock step moves it.
int64_t clinux_boottime_ns(void);

/// Nanoseconds of CLOCK_REALTIME since 1970-01-01 UTC.
int64_t clinux_realtime_ns(void);

/// Whether the kernel considers the wall clock synchronised: adjtimex(2) without STA_UNSYNC. 1, 0, or -errno.
int clinux_clock_synchronised(void);

/// The kernel's id of the calling thread: gettid(2).
pid_t clinux_gettid(void);

/// Names the calling thread (15 octets at most, longer ones are cut).
void clinux_name_thread(const char *name);

/// Lowers the calling thread's own priority by `nice` steps, so that collectors yield to the measurement.
/// 0, or -errno.
int clinux_renice_thread(int nice);

/// unshare(2) for the calling thread. 0, or -errno.
int clinux_unshare(int flags);

/// Constants whose macros Swift cannot import.
extern const int clinux_CLONE_NEWNET;

/// Ignores SIGPIPE: libgps and pipes to children would end the process otherwise.
void clinux_ignore_sigpipe(void);

/// Sets FD_CLOEXEC / O_NONBLOCK through fcntl(2), which is variadic. 0, or -errno.
int clinux_set_cloexec(int fd, int on);
int clinux_set_nonblocking(int fd, int on);

/// open(2), always with O_CLOEXEC. The descriptor, or -errno.
int clinux_open(const char *path, int flags, mode_t mode);

/// strerror_r(3) of GNU: the text for an errno, in `buffer` or static memory. Never NULL.
const char *clinux_strerror(int error, char *buffer, size_t capacity);

/// Opens a pseudo terminal whose slave passes octets through unchanged. 0, or -errno. Both are close-on-exec.
int clinux_openpty_raw(int *master, int *slave);

/// Copies the window size of one terminal to another, and says whether it could. 0, or -errno.
int clinux_copy_window_size(int from, int to);

/// posix_spawnp(3) of `argv` with `environment` (NULL: the caller's), standard streams from the three descriptors (-1: inherited), every
/// other descriptor closed, signals at their defaults and none blocked.
/// 0 and the process id, or -errno.
int clinux_spawn(pid_t *pid, const char *const argv[], const char *const environment[], int in, int out, int err);

/// Where the SIGCHLD-free wait is needed: waitpid(2) restarted on EINTR. The pid, 0 with WNOHANG, or -errno.
pid_t clinux_waitpid(pid_t pid, int *status, int options);
int clinux_exited(int status);
int clinux_exit_status(int status);
int clinux_term_signal(int status);

/// Gives the signals their default action again.
void clinux_default_signals(const int *signals, size_t count);

/// getsockopt(SO_BINDTOIFINDEX): the device that a new socket of this process is bound to (a VRF through a cgroup program), 0 for
/// none, or -errno.
int clinux_bound_ifindex(int family);

/// As clinux_spawn, for a command that must not notice who started it: it keeps the group, the environment and the signals that were
/// ignored when this process began (nohup(1), background jobs). Only `reset` signals get their default action back: the ones that this
/// process itself changed. Of the descriptors after the standard streams it gets those of `kept`, in ascending order; with a negative
/// count all that are not close-on-exec. 0 and the process id, or -errno.
int clinux_spawn_command(pid_t *pid, const char *const argv[], int in, int out, int err, const int *reset, size_t reset_count,
                         const int *kept, int kept_count);

/// Whether the signal is ignored: 1, 0, or -errno.
int clinux_is_ignored(int signal);

/// Installs a handler that writes the signal's number as one octet to `fd` for each of the signals: the self-pipe trick, because signalfd
/// would need every thread to block them. Bit 7 is set when a process sent the signal (kill(2), si_code <= 0) and not the terminal or the
/// kernel, which reach a whole foreground group by themselves. 0, or -errno.
int clinux_relay_signals_to(int fd, const int *signals, size_t count);

/// Ends this process by the signal's default action, without a core file of its own. Returns only if the signal's default is not to end.
void clinux_die_by(int signal);

/// Octets that a pipe holds at most: fcntl(F_GETPIPE_SZ). Or -errno.
int clinux_pipe_capacity(int fd);

/// timerfd_create(2) on CLOCK_BOOTTIME, close-on-exec and non-blocking: unlike a poll's time-out it runs on while the machine is
/// suspended. The descriptor, or -errno.
int clinux_boottime_timer(void);
/// Makes the timer's descriptor readable once CLOCK_BOOTTIME reaches `at_ns`; never, with at_ns < 0. 0, or -errno.
int clinux_boottime_timer_set(int fd, int64_t at_ns);

/// pipe2(2), always with O_CLOEXEC. 0, or -errno.
int clinux_pipe(int ends[2]);

/// posix_spawn(3) of a collector's launcher: a session of its own, standard streams from the first three descriptors (err -1:
/// /dev/null), `status` as descriptor 3, every other descriptor closed, signals at their defaults and none blocked. The child ends with
/// the calling thread, if it asks for that. 0 and the process id, or -errno.
int clinux_spawn_collector(pid_t *pid, const char *const argv[], const char *const environment[], int in, int out, int err, int status);

/// write(2) without SIGPIPE, whatever the process does about that signal. Octets, or -errno.
ssize_t clinux_write_quietly(int fd, const void *octets, size_t count);

/// Whether the process is a child that nobody has waited for: waitid(2) with WNOWAIT. Until then its number, and that of the group that it
/// leads, cannot become another's. 1 or 0.
int clinux_is_own_child(pid_t pid);

/// Octets that wait in a pipe: ioctl(FIONREAD). Or -errno.
int clinux_pipe_content(int fd);

/// Octets that this process has allocated and not freed, over all arenas: mallinfo2(3), whose header Swift's Glibc module leaves out. A
/// sanitizer's allocator is not asked.
size_t clinux_heap_in_use(void);

/// Makes a pipe as small as the kernel allows: fcntl(F_SETPIPE_SZ). 0, or -errno.
int clinux_narrow_pipe(int fd);
