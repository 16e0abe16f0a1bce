// The child's part of clinux_spawn_held. After fork, the child makes only async-signal-safe calls.
// It changes the ids by raw system calls, because glibc's functions would also try to change the
// ids of the parent's threads.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_MAX
#define CLOSE_RANGE_MAX (~0U)
#endif

/// The exit code with which shells report a command that they could not start.
#define EXIT_NOT_STARTED 127

static _Noreturn void fail(int report_fd, enum clinux_spawn_step step) {
  struct clinux_spawn_failure failure = {.step = step, .code = errno};
  ssize_t written;
  do {
    written = write(report_fd, &failure, sizeof failure);
  } while (written < 0 && errno == EINTR);
  _exit(EXIT_NOT_STARTED);
}

/// The size of the kernel's signal set, which has 64 bits. The sigset_t of glibc is larger.
#define KERNEL_SIGSET_BYTES 8

/// Resets every signal to its default action. Does not change the signal mask. Uses the raw system
/// call, because glibc's sigaction refuses the two real-time signals that glibc reserves. If the
/// parent ignores these two signals, the child would otherwise ignore them too.
static int reset_dispositions(void) {
  // SIG_DFL, no flags and an empty mask are all zero in the kernel's struct sigaction.
  const unsigned long action[8] = {0};
  for (int number = 1; number <= KERNEL_SIGSET_BYTES * 8; number++) {
    if (number == SIGKILL || number == SIGSTOP) {
      continue;
    }
    if (syscall(SYS_rt_sigaction, number, action, NULL, KERNEL_SIGSET_BYTES) < 0) {
      return -1;
    }
  }
  return 0;
}

/// Duplicates a descriptor to a number above 2 if necessary.
static int above_stdio(int fd) {
  return fd > 2 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/// Makes the wanted descriptors the descriptors 0, 1 and 2. First duplicates them to numbers above
/// 2, because a wanted descriptor may have the number of another target. dup2 clears CLOEXEC.
static int place_stdio(const int wanted[3]) {
  int source[3];
  for (int target = 0; target < 3; target++) {
    source[target] = wanted[target] < 0 ? -1 : above_stdio(wanted[target]);
    if (wanted[target] >= 0 && source[target] < 0) {
      return -1;
    }
  }
  for (int target = 0; target < 3; target++) {
    if (source[target] >= 0 && dup2(source[target], target) < 0) {
      return -1;
    }
  }
  return 0;
}

static int close_range_or_each(unsigned int first, unsigned int last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) {
    return 0;
  }
  if (errno != ENOSYS) {
    return -1;
  }
  // Linux before 5.9 has no close_range.
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
    return -1;
  }
  for (unsigned int fd = first; fd <= last && fd < limit.rlim_max; fd++) {
    close((int)fd);
  }
  return 0;
}

/// Closes all descriptors except 0 to 2 and the two given ones. FD_CLOEXEC would close the others
/// only at exec. Until then, the child would have the parent's end of another child's hold socket
/// open. The other child could then not detect the death of the parent.
static int close_all_but(unsigned int one, unsigned int other) {
  unsigned int low = one < other ? one : other;
  unsigned int high = one < other ? other : one;
  if (close_range_or_each(3, low - 1) < 0 || close_range_or_each(low + 1, high - 1) < 0) {
    return -1;
  }
  return close_range_or_each(high + 1, CLOSE_RANGE_MAX);
}

static int set_open_files(uint64_t soft) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
    return -1;
  }
  limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

/// Returns when the parent releases the child. Ends the child if the other end of the socket
/// closes.
static void wait_for_release(int hold_fd) {
  char byte;
  ssize_t count;
  do {
    count = read(hold_fd, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count != 1) {
    _exit(EXIT_NOT_STARTED);
  }
}

static void change_ids(const struct clinux_spawn *spawn, int report_fd) {
  if (syscall(SYS_setgroups, spawn->groups_count, spawn->groups) < 0) {
    fail(report_fd, CLINUX_STEP_GROUPS);
  }
  if (syscall(SYS_setresgid, spawn->gid, spawn->gid, spawn->gid) < 0) {
    fail(report_fd, CLINUX_STEP_GID);
  }
  if (syscall(SYS_setresuid, spawn->uid, spawn->uid, spawn->uid) < 0) {
    fail(report_fd, CLINUX_STEP_UID);
  }
}

static _Noreturn void run_child(const struct clinux_spawn *spawn) {
  int report_fd = above_stdio(spawn->report_fd);
  int hold_fd = above_stdio(spawn->hold_fd);
  if (report_fd < 0 || hold_fd < 0) {
    _exit(EXIT_NOT_STARTED);
  }
  if (reset_dispositions() < 0) {
    fail(report_fd, CLINUX_STEP_SIGNALS);
  }
  if (place_stdio(spawn->stdio) < 0) {
    fail(report_fd, CLINUX_STEP_STDIO);
  }
  if (close_all_but((unsigned int)hold_fd, (unsigned int)report_fd) < 0) {
    fail(report_fd, CLINUX_STEP_CLOSE);
  }
  if (spawn->new_session && setsid() < 0) {
    fail(report_fd, CLINUX_STEP_SESSION);
  }
  if (spawn->process_group >= 0 && setpgid(0, spawn->process_group) < 0) {
    fail(report_fd, CLINUX_STEP_PROCESS_GROUP);
  }
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) {
    fail(report_fd, CLINUX_STEP_SIGNALS);
  }

  wait_for_release(hold_fd);

  if (spawn->open_files_soft > 0 && set_open_files(spawn->open_files_soft) < 0) {
    fail(report_fd, CLINUX_STEP_LIMIT);
  }
  if (spawn->change_ids) {
    change_ids(spawn, report_fd);
  }
  if (spawn->directory && chdir(spawn->directory) < 0) {
    fail(report_fd, CLINUX_STEP_DIRECTORY);
  }
  execve(spawn->path, spawn->argv, spawn->envp);
  fail(report_fd, CLINUX_STEP_EXEC);
}

pid_t clinux_spawn_held(const struct clinux_spawn *spawn) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A signal handler of the parent must not run in the child.
  int masked = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (masked != 0) {
    errno = masked;
    return -1;
  }
  pid_t child = fork();
  if (child == 0) {
    run_child(spawn);
  }
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child > 0 && spawn->process_group >= 0) {
    // The parent also sets the group, so that the child is in the group when this function returns.
    // The child's own call reports a failure.
    setpgid(child, spawn->process_group);
  }
  errno = code;
  return child;
}
