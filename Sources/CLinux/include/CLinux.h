/// System calls and macros that Glibc's Swift module lacks or that Swift cannot call. Unless stated
/// otherwise, the functions return -1 and set errno on failure. They do not retry after EINTR.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
// epoll(7), which Glibc's Swift module does not contain.
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/uio.h>

/// The name of an errno ("ENOENT"), or NULL if it has none.
const char *clinux_errno_name(int code);
/// The description of an errno in English in every locale, or NULL if it has none.
const char *clinux_errno_description(int code);

// MARK: pidfd

int clinux_pidfd_open(pid_t pid, unsigned int flags);
/// Sends a signal to the whole process, with the signal information that kill(2) would give.
int clinux_pidfd_send_signal(int pidfd, int signal);

/// struct pidfd_info of linux/pidfd.h in its first published size of 64 bytes. Older kernel headers
/// do not declare the structure.
struct clinux_pidfd_info {
  uint64_t mask;
  uint64_t cgroupid;
  uint32_t pid, tgid, ppid;
  uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  int32_t exit_code;
};
enum {
  CLINUX_PIDFD_INFO_PID = 1 << 0,
  CLINUX_PIDFD_INFO_EXIT = 1 << 3,
};
/// ioctl PIDFD_GET_INFO (Linux 6.13). CLINUX_PIDFD_INFO_EXIT (Linux 6.15) requests the exit code,
/// which exists only after the process has been reaped.
int clinux_pidfd_get_info(int pidfd, struct clinux_pidfd_info *info);

/// The result of waitid(2). pid is 0 if there is nothing to report (WNOHANG).
struct clinux_wait_result {
  pid_t pid;
  /// CLD_EXITED, CLD_KILLED, CLD_DUMPED, CLD_STOPPED, CLD_TRAPPED or CLD_CONTINUED.
  int code;
  /// An exit code or a signal number, depending on `code`.
  int status;
};
/// waitid(P_PIDFD).
int clinux_wait_pidfd(int pidfd, int options, struct clinux_wait_result *result);

// MARK: signals

/// Blocks the `count` signals in the calling thread, and returns a non-blocking signalfd(2) for
/// them.
int clinux_signal_fd(const int *signals, size_t count);
/// Reads the next signal: its number (0 if none is pending) and its si_code.
int clinux_take_signal(int fd, int *number, int *code);

// MARK: sockets

enum {
  CLINUX_SO_PEEK_OFF = 42,
  CLINUX_SO_COOKIE = 57,
  CLINUX_SO_PEERGROUPS = 59,
  CLINUX_SO_PEERPIDFD = 77,
  /// SCM_MAX_FD of the kernel: no message carries more file descriptors.
  CLINUX_FDS_MAX = 253,
};

struct clinux_peer {
  pid_t pid;
  uid_t uid;
  gid_t gid;
};
/// Reads the credentials of the peer (SO_PEERCRED).
int clinux_peer_credentials(int fd, struct clinux_peer *peer);

/// Makes glibc return every freed block of at least `bytes` bytes to the kernel. Also makes glibc
/// return the free space at the end of the heap when it exceeds `bytes` bytes. Without this call,
/// glibc raises both thresholds at run time, up to 64 MiB.
void clinux_return_blocks(size_t bytes);
/// Returns all empty pages to the kernel (malloc_trim).
void clinux_trim_heap(void);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC.
int clinux_accept(int listener);

/// One recvmsg with MSG_DONTWAIT and MSG_CMSG_CLOEXEC. `fds` has room for `fds_max` descriptors, at
/// most CLINUX_FDS_MAX. `*truncated` is set if the kernel dropped control data (MSG_CTRUNC).
ssize_t clinux_receive(
    int fd, void *bytes, size_t count, int *fds, size_t fds_max, size_t *fds_count,
    int *truncated);
/// One recvmsg with MSG_PEEK and MSG_DONTWAIT, without room for control data; `*truncated` is set
/// if there was control data.
ssize_t clinux_peek(int fd, void *bytes, size_t count, int *truncated);
/// ioctl FIONREAD: the number of unread bytes.
int clinux_readable_count(int fd, int *count);
/// One sendmsg with MSG_DONTWAIT and MSG_NOSIGNAL; the descriptors are attached to the first byte.
ssize_t clinux_send(int fd, const void *bytes, size_t count, const int *fds, size_t fds_count);

// MARK: files

/// Calls close(2) on a new thread, because the call can block.
void clinux_close_elsewhere(int fd);
/// pipe2 with O_CLOEXEC.
int clinux_pipe(int fds[2]);
/// memfd_create with MFD_CLOEXEC.
int clinux_memfd(const char *name);
/// memfd_create with MFD_CLOEXEC and MFD_ALLOW_SEALING.
int clinux_sealable_memfd(const char *name);
/// fcntl F_ADD_SEALS: nothing can change the content or the size of the memfd any more.
int clinux_seal(int fd);
/// fcntl F_GET_SEALS. Fails with EINVAL unless the file is in memory: of tmpfs or hugetlbfs.
int clinux_seals(int fd);
/// eventfd with EFD_CLOEXEC and EFD_NONBLOCK.
int clinux_eventfd(unsigned int initial_value);

ssize_t clinux_getdents(int fd, void *buffer, size_t count);
/// openat(2) of an existing file, with O_CLOEXEC. Swift cannot call the variadic openat.
int clinux_open_at(int directory, const char *path, int flags);
/// open(2) with O_CREAT, O_CLOEXEC and a mode.
int clinux_create(const char *path, int flags, mode_t mode);
/// fcntl F_SETLK with a write lock on the whole file.
int clinux_lock(int fd);
/// fcntl F_GETLK. Returns the pid of the process that has the lock; 0 if no process has it.
pid_t clinux_lock_holder(int fd);
/// fcntl F_SETLKW: waits for the lock.
int clinux_lock_wait(int fd);

// MARK: changes of the machine

/// Creates a non-blocking timer of CLOCK_REALTIME that never expires. After each setting of the
/// clock, read(2) fails once with ECANCELED (TFD_TIMER_CANCEL_ON_SET).
int clinux_clock_watch(void);

/// Creates a non-blocking socket of NETLINK_ROUTE. With `is_watch`, it receives changes of links,
/// addresses and routes.
int clinux_route_socket(int is_watch);
enum {
  CLINUX_ROUTES = 26,
  CLINUX_ADDRESSES = 22,
};
/// Requests all routes (CLINUX_ROUTES) or addresses (CLINUX_ADDRESSES) of a family.
int clinux_route_ask(int fd, uint16_t what, uint8_t family, uint32_t sequence);
/// Receives a datagram. Returns its whole length even if that is more than `count` (MSG_TRUNC).
/// Returns 0 if the datagram is not from the kernel.
ssize_t clinux_route_receive(int fd, void *bytes, size_t count);

/// Returns the protocol of a netlink socket (CLINUX_NETLINK_ROUTE and so on) and the groups whose
/// messages it receives, or -1. EAFNOSUPPORT for another socket.
int clinux_netlink_protocol(int fd, uint32_t *groups);
enum {
  CLINUX_NETLINK_ROUTE = 0,
  CLINUX_NETLINK_SOCK_DIAG = 4,
};

/// Creates a non-blocking socket of NETLINK_SOCK_DIAG.
int clinux_diagnosis_socket(void);
/// Requests the listening sockets of a family (AF_UNIX; AF_INET and AF_INET6 for TCP) with their
/// names.
int clinux_diagnosis_ask(int fd, uint8_t family, uint32_t sequence);
/// Requests the connected Unix sockets with their names and the inodes of their peers.
int clinux_diagnosis_ask_connected(int fd, uint32_t sequence);

// MARK: memory

/// A process to measure, identified by its pid and its start time (field 22 of /proc/PID/stat). The
/// processes of a group must be adjacent in the array.
struct clinux_measured {
  pid_t pid;
  uint32_t group;
  uint64_t start_time;
};
/// Sizes from /proc/PID/smaps_rollup of the process at `index` in the array, in bytes. `error` is 0
/// or an errno: ESRCH if the process has ended.
struct clinux_rollup {
  uint32_t index;
  int32_t error;
  uint64_t private_dirty;
  uint64_t swapped;
  uint64_t proportional;
};
/// Starts a thread that measures the processes in order; a read of smaps_rollup can block. The
/// thread writes a clinux_rollup for each process to `fd`, and finally closes `proc_root` and `fd`.
/// `bounds[group]` is an upper bound for the dirty memory of a group. The thread skips all
/// remaining groups once a group that it has read has at least as much dirty memory as the next
/// bound. If the thread cannot start, returns -1 with errno, and does not close the descriptors.
int clinux_measure_elsewhere(
    int proc_root, const struct clinux_measured *processes, size_t count, const uint64_t *bounds,
    size_t groups_count, int fd);
/// Calls process_mrelease(2) for each pidfd on a new thread, and closes the pidfds.
void clinux_release_memory_elsewhere(const int *pidfds, size_t count);
/// process_madvise(2) with MADV_PAGEOUT.
ssize_t clinux_page_out(int pidfd, const struct iovec *ranges, size_t count);

// MARK: priorities

/// The scheduling of a thread.
struct clinux_priority {
  /// SCHED_OTHER and so on, without flags.
  int policy;
  /// Whether new children of the thread start with SCHED_OTHER instead of a real-time policy, and
  /// with a nice value of at least 0 (SCHED_RESET_ON_FORK).
  int resets_on_fork;
  /// The real-time priority; 0 without a real-time policy.
  int real_time;
  int nice;
  /// The value of ioprio_get(2).
  int io;
};
int clinux_get_priority(pid_t thread, struct clinux_priority *priority);
/// setpriority(PRIO_PROCESS), which applies to one thread.
int clinux_set_nice(pid_t thread, int nice);
/// ioprio_set(IOPRIO_WHO_PROCESS), which applies to one thread.
int clinux_set_io_priority(pid_t thread, int value);
/// sched_setattr(2), for SCHED_OTHER, SCHED_FIFO and SCHED_RR.
int clinux_set_policy(pid_t thread, int policy, int resets_on_fork, int real_time);
/// RLIMIT_NICE and RLIMIT_RTPRIO of a process, which limit the priorities that its user may set.
int clinux_priority_limits(pid_t process, uint64_t *nice, uint64_t *real_time);
/// Reads the device and the inode number of a file with statx(2). Follows links.
int clinux_file_identity(int directory, const char *path, uint64_t *device, uint64_t *inode);
/// Same as clinux_file_identity; also reads the major number of a character device, 0 for other
/// files.
int clinux_device_identity(
    int directory, const char *path, uint64_t *device, uint64_t *inode, uint32_t *major);

// MARK: a child that waits before exec

/// A step of the child between fork and exec. A clinux_spawn_failure names the step that failed.
enum clinux_spawn_step {
  CLINUX_STEP_SIGNALS = 1,
  CLINUX_STEP_STDIO,
  CLINUX_STEP_CLOSE,
  CLINUX_STEP_SESSION,
  CLINUX_STEP_PROCESS_GROUP,
  CLINUX_STEP_LIMIT,
  CLINUX_STEP_GROUPS,
  CLINUX_STEP_GID,
  CLINUX_STEP_UID,
  CLINUX_STEP_DIRECTORY,
  CLINUX_STEP_EXEC,
};

struct clinux_spawn {
  const char *path;
  char *const *argv;
  char *const *envp;
  /// The working directory; NULL for that of the parent.
  const char *directory;
  /// For fds 0, 1, 2: a file descriptor of the parent, or -1 to inherit.
  int stdio[3];
  int new_session;
  /// The process group to join; -1 for that of the parent, 0 for a new group.
  pid_t process_group;
  int change_ids;
  uid_t uid;
  gid_t gid;
  const gid_t *groups;
  size_t groups_count;
  /// The soft limit on open files; 0 for that of the parent.
  uint64_t open_files_soft;
  /// The child reads one byte from this descriptor, a socket, before it continues. If the other
  /// end of the socket closes before the byte arrives, the child exits.
  int hold_fd;
  /// If a step fails, the child writes a clinux_spawn_failure to this descriptor. A successful exec
  /// closes the descriptor.
  int report_fd;
};

struct clinux_spawn_failure {
  int32_t step;
  int32_t code;
};

/// Forks a child, and returns its pid. The child sets up its signals, descriptors and process
/// group, and waits for the byte from `hold_fd`. Then it changes its limit on open files, its ids
/// and its directory, and executes the program. It makes only async-signal-safe calls.
pid_t clinux_spawn_held(const struct clinux_spawn *spawn);

#endif
