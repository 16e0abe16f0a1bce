#include "CVirtualTime.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ULL
#define FDS_MAX 256

static bool is_virtual;
static uint64_t now;
static uint64_t interruption;
// The expiry of each timer in virtual time; 0 if the timer is not set.
static uint64_t expiry[FDS_MAX];

void virtual_time_begin(uint64_t nanoseconds) {
  is_virtual = true;
  now = nanoseconds;
  interruption = UINT64_MAX;
  for (int fd = 0; fd < FDS_MAX; fd++) expiry[fd] = 0;
}

void virtual_time_interrupt_at(uint64_t nanoseconds) { interruption = nanoseconds; }

void virtual_time_end(void) { is_virtual = false; }

uint64_t virtual_time_now(void) { return now; }

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!is_virtual) return (int)syscall(SYS_clock_gettime, clock, time);
  *time = (struct timespec){.tv_sec = (time_t)(now / SECOND), .tv_nsec = (long)(now % SECOND)};
  return 0;
}

int timerfd_settime(
    int fd, int flags, const struct itimerspec *new_time, struct itimerspec *old_time) {
  if (!is_virtual) return (int)syscall(SYS_timerfd_settime, fd, flags, new_time, old_time);
  // sd-event sets only one-shot timers, and never requests the previous value.
  if (fd >= FDS_MAX || nanoseconds(&new_time->it_interval) != 0 || old_time != NULL) abort();
  uint64_t time = nanoseconds(&new_time->it_value);
  expiry[fd] = time == 0 || (flags & TFD_TIMER_ABSTIME) ? time : now + time;
  // Disarms the real timer, which discards an expiration that was not read.
  struct itimerspec none = {0};
  return (int)syscall(SYS_timerfd_settime, fd, 0, &none, NULL);
}

// Returns the timer that expires next; -1 if none is set.
static int next_timer(void) {
  int next = -1;
  for (int fd = 0; fd < FDS_MAX; fd++) {
    if (expiry[fd] != 0 && (next < 0 || expiry[fd] < expiry[next])) next = fd;
  }
  return next;
}

// Waits for events. If the caller waits, the clock first jumps to the expiry of the next timer, or
// to an earlier interruption. If the timer is due in virtual time, the kernel's timer then expires
// at once.
static int wait_on(int fd, struct epoll_event *events, int events_max, bool waits) {
  int next = next_timer();
  if (waits && (next < 0 || expiry[next] > interruption)) {
    if (interruption == UINT64_MAX) abort();
    now = interruption;
    errno = EINTR;
    return -1;
  }
  if (waits && expiry[next] > now) now = expiry[next];
  bool fires = next >= 0 && expiry[next] <= now;
  if (fires) {
    expiry[next] = 0;
    struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
    if (syscall(SYS_timerfd_settime, next, 0, &at_once, NULL) < 0) abort();
  }
  int timeout = fires ? -1 : 0;
  return (int)syscall(SYS_epoll_pwait, fd, events, events_max, timeout, NULL, _NSIG / 8);
}

int epoll_wait(int fd, struct epoll_event *events, int events_max, int timeout) {
  if (!is_virtual) {
    return (int)syscall(SYS_epoll_pwait, fd, events, events_max, timeout, NULL, _NSIG / 8);
  }
  if (timeout > 0) abort();
  return wait_on(fd, events, events_max, timeout < 0);
}

int epoll_pwait2(
    int fd, struct epoll_event *events, int events_max, const struct timespec *timeout,
    const sigset_t *mask) {
  if (!is_virtual) {
    return (int)syscall(SYS_epoll_pwait2, fd, events, events_max, timeout, mask, _NSIG / 8);
  }
  if ((timeout != NULL && nanoseconds(timeout) != 0) || mask != NULL) abort();
  return wait_on(fd, events, events_max, timeout == NULL);
}
