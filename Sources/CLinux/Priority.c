#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// struct sched_attr of linux/sched/types.h in its first published size of 48 bytes.
struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
_Static_assert(sizeof(struct attributes) == 48, "SCHED_ATTR_SIZE_VER0");
/// SCHED_FLAG_RESET_ON_FORK of linux/sched.h.
#define RESET_ON_FORK 1

/// IOPRIO_WHO_PROCESS of linux/ioprio.h.
#define ONE_THREAD 1

int clinux_get_priority(pid_t thread, struct clinux_priority *priority) {
  struct attributes attributes = {.size = sizeof attributes};
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) < 0) return -1;
  long io = syscall(SYS_ioprio_get, ONE_THREAD, thread);
  if (io < 0) return -1;
  priority->policy = (int32_t)attributes.policy;
  priority->resets_on_fork = (attributes.flags & RESET_ON_FORK) != 0;
  priority->real_time = (int32_t)attributes.priority;
  priority->nice = attributes.nice;
  priority->io = (int32_t)io;
  if (priority->real_time == 0 && attributes.policy != SCHED_DEADLINE) return 0;
  // sched_getattr returns the nice value only for an ordinary policy. The raw getpriority returns
  // 20 minus the nice value, which is never negative.
  long nice = syscall(SYS_getpriority, PRIO_PROCESS, thread);
  if (nice < 0) return -1;
  priority->nice = 20 - (int32_t)nice;
  return 0;
}

int clinux_set_nice(pid_t thread, int nice) {
  return setpriority(PRIO_PROCESS, (id_t)thread, nice);
}

int clinux_set_io_priority(pid_t thread, int value) {
  return (int)syscall(SYS_ioprio_set, ONE_THREAD, thread, value);
}

int clinux_set_policy(pid_t thread, int policy, int resets_on_fork, int real_time) {
  // With an ordinary policy, the thread keeps its nice value.
  long nice = syscall(SYS_getpriority, PRIO_PROCESS, thread);
  if (nice < 0) return -1;
  struct attributes attributes = {
      .size = sizeof attributes,
      .policy = (uint32_t)policy,
      .flags = resets_on_fork ? RESET_ON_FORK : 0,
      .nice = real_time ? 0 : 20 - (int32_t)nice,
      .priority = (uint32_t)real_time,
  };
  return (int)syscall(SYS_sched_setattr, thread, &attributes, 0);
}

int clinux_priority_limits(pid_t process, uint64_t *nice, uint64_t *real_time) {
  struct rlimit limit;
  if (prlimit(process, RLIMIT_NICE, NULL, &limit) < 0) return -1;
  *nice = limit.rlim_cur;
  if (prlimit(process, RLIMIT_RTPRIO, NULL, &limit) < 0) return -1;
  *real_time = limit.rlim_cur;
  return 0;
}

int clinux_file_identity(int directory, const char *path, uint64_t *device, uint64_t *inode) {
  uint32_t major;
  return clinux_device_identity(directory, path, device, inode, &major);
}

int clinux_device_identity(
    int directory, const char *path, uint64_t *device, uint64_t *inode, uint32_t *major) {
  struct statx status;
  // These properties never change, so the kernel's cached values suffice, and the call need not
  // wait for a file server.
  if (statx(directory, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_TYPE, &status) < 0) return -1;
  *device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
  *inode = status.stx_ino;
  *major = S_ISCHR(status.stx_mode) ? status.stx_rdev_major : 0;
  return 0;
}
