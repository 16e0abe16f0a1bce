#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int clinux_signal_fd(const int *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < count; i++) {
    if (sigaddset(&set, signals[i]) < 0) {
      return -1;
    }
  }
  int code = sigprocmask(SIG_BLOCK, &set, NULL);
  return code < 0 ? -1 : signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int clinux_take_signal(int fd, int *number, int *code) {
  struct signalfd_siginfo info;
  ssize_t size = read(fd, &info, sizeof info);
  if (size < 0 && errno != EAGAIN) {
    return -1;
  }
  *number = size == sizeof info ? (int)info.ssi_signo : 0;
  *code = size == sizeof info ? info.ssi_code : 0;
  return 0;
}
