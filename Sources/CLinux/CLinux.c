#define _GNU_SOURCE
#include "CLinux.h"
#include "Thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(struct clinux_pidfd_info) == 64, "PIDFD_INFO_SIZE_VER0");

#define CLINUX_P_PIDFD 3
#define CLINUX_PIDFD_GET_INFO _IOWR(0xFF, 11, struct clinux_pidfd_info)

const char *clinux_errno_name(int code) {
  return strerrorname_np(code);
}

const char *clinux_errno_description(int code) {
  return strerrordesc_np(code);
}

int clinux_pidfd_open(pid_t pid, unsigned int flags) {
  return (int)syscall(SYS_pidfd_open, pid, flags);
}

int clinux_pidfd_send_signal(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int clinux_pidfd_get_info(int pidfd, struct clinux_pidfd_info *info) {
  return ioctl(pidfd, CLINUX_PIDFD_GET_INFO, info);
}

int clinux_wait_pidfd(int pidfd, int options, struct clinux_wait_result *result) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid((idtype_t)CLINUX_P_PIDFD, (id_t)pidfd, &info, options) < 0) {
    return -1;
  }
  result->pid = info.si_pid;
  result->code = info.si_code;
  result->status = info.si_status;
  return 0;
}

int clinux_peer_credentials(int fd, struct clinux_peer *peer) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) {
    return -1;
  }
  peer->pid = credentials.pid;
  peer->uid = credentials.uid;
  peer->gid = credentials.gid;
  return 0;
}

int clinux_accept(int listener) {
  return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(CLINUX_FDS_MAX * sizeof(int))];
};

ssize_t clinux_receive(
    int fd, void *bytes, size_t count, int *fds, size_t fds_max, size_t *fds_count,
    int *truncated) {
  union control control;
  struct iovec vector = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &vector,
      .msg_iovlen = 1,
      .msg_control = &control,
      // CMSG_LEN, because the padding of CMSG_SPACE would admit one more descriptor.
      .msg_controllen = CMSG_LEN(fds_max * sizeof(int)),
  };
  *fds_count = 0;
  *truncated = 0;
  ssize_t received = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) {
    return -1;
  }
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    size_t arrived = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds + *fds_count, CMSG_DATA(part), arrived * sizeof(int));
    *fds_count += arrived;
  }
  *truncated = (message.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

int clinux_readable_count(int fd, int *count) {
  return ioctl(fd, FIONREAD, count);
}

ssize_t clinux_send(int fd, const void *bytes, size_t count, const int *fds, size_t fds_count) {
  if (fds_count == 0) {
    return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (fds_count > CLINUX_FDS_MAX) {
    errno = EINVAL;
    return -1;
  }
  union control control;
  size_t size = fds_count * sizeof(int);
  memset(&control, 0, CMSG_SPACE(size));
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &vector,
      .msg_iovlen = 1,
      .msg_control = &control,
      .msg_controllen = CMSG_SPACE(size),
  };
  struct cmsghdr *part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(part), fds, size);
  return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void *close_here(void *fd) {
  close((int)(intptr_t)fd);
  return NULL;
}

void clinux_close_elsewhere(int fd) {
  if (clinux_start_thread(close_here, (void *)(intptr_t)fd) != 0) {
    close(fd);
  }
}

int clinux_pipe(int fds[2]) {
  return pipe2(fds, O_CLOEXEC);
}

int clinux_memfd(const char *name) {
  return memfd_create(name, MFD_CLOEXEC);
}

int clinux_sealable_memfd(const char *name) {
  return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int clinux_seal(int fd) {
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int clinux_seals(int fd) {
  return fcntl(fd, F_GET_SEALS);
}

int clinux_eventfd(unsigned int initial_value) {
  return eventfd(initial_value, EFD_CLOEXEC | EFD_NONBLOCK);
}

ssize_t clinux_getdents(int fd, void *buffer, size_t count) {
  return syscall(SYS_getdents64, fd, buffer, count);
}

int clinux_open_at(int directory, const char *path, int flags) {
  return openat(directory, path, flags | O_CLOEXEC);
}

int clinux_create(const char *path, int flags, mode_t mode) {
  return open(path, flags | O_CREAT | O_CLOEXEC, mode);
}

int clinux_lock(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &lock);
}

pid_t clinux_lock_holder(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_GETLK, &lock) < 0) {
    return -1;
  }
  return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

int clinux_lock_wait(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLKW, &lock);
}

ssize_t clinux_peek(int fd, void *bytes, size_t count, int *truncated) {
  struct iovec vector = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  ssize_t peeked = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
  *truncated = (message.msg_flags & MSG_CTRUNC) != 0;
  return peeked;
}
