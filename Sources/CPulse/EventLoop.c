#include "EventLoop.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

// libpulse owns an event until libpulse frees the event. The functions below release the sd-event
// source of the event before the event itself, so that sd-event never uses a freed event. libpulse
// may free an event from within the event's callback: sd-event keeps the source until the callback
// has returned, and the functions below do not use the event after the callback.

struct pa_io_event {
  sd_event_source *source;
  pa_mainloop_api *api;
  int descriptor;
  pa_io_event_cb_t callback;
  pa_io_event_destroy_cb_t destroy;
  void *userdata;
};

struct pa_time_event {
  sd_event_source *source;
  pa_mainloop_api *api;
  struct timeval time;
  pa_time_event_cb_t callback;
  pa_time_event_destroy_cb_t destroy;
  void *userdata;
};

struct pa_defer_event {
  sd_event_source *source;
  pa_mainloop_api *api;
  pa_defer_event_cb_t callback;
  pa_defer_event_destroy_cb_t destroy;
  void *userdata;
};

// Without memory, libpulse expects the program to end.
static void *allocate(size_t size) {
  void *result = calloc(1, size);
  if (!result) abort();
  return result;
}

static void require(int result) {
  if (result < 0) abort();
}

// MARK: Descriptors

static uint32_t epoll_events(pa_io_event_flags_t flags) {
  return (flags & PA_IO_EVENT_INPUT ? EPOLLIN : 0) | (flags & PA_IO_EVENT_OUTPUT ? EPOLLOUT : 0);
}

static int io_ready(sd_event_source *source, int descriptor, uint32_t ready, void *userdata) {
  (void)source;
  pa_io_event *event = userdata;
  int flags = PA_IO_EVENT_NULL;
  if (ready & EPOLLIN) flags |= PA_IO_EVENT_INPUT;
  if (ready & EPOLLOUT) flags |= PA_IO_EVENT_OUTPUT;
  if (ready & EPOLLHUP) flags |= PA_IO_EVENT_HANGUP;
  if (ready & EPOLLERR) flags |= PA_IO_EVENT_ERROR;
  event->callback(event->api, event, descriptor, flags, event->userdata);
  return 0;
}

static pa_io_event *io_new(
    pa_mainloop_api *api, int descriptor, pa_io_event_flags_t flags, pa_io_event_cb_t callback,
    void *userdata) {
  pa_io_event *event = allocate(sizeof *event);
  event->api = api;
  event->descriptor = descriptor;
  event->callback = callback;
  event->userdata = userdata;
  require(sd_event_add_io(
      api->userdata, &event->source, descriptor, epoll_events(flags), io_ready, event));
  return event;
}

static void io_enable(pa_io_event *event, pa_io_event_flags_t flags) {
  require(sd_event_source_set_io_events(event->source, epoll_events(flags)));
}

static void io_free(pa_io_event *event) {
  sd_event_source_disable_unref(event->source);
  if (event->destroy) event->destroy(event->api, event, event->userdata);
  free(event);
}

static void io_set_destroy(pa_io_event *event, pa_io_event_destroy_cb_t destroy) {
  event->destroy = destroy;
}

// MARK: Times

// PA_TIMEVAL_RTCLOCK of libpulse: tv_usec has this bit if the time is one of CLOCK_MONOTONIC, and
// not one of the wall clock.
#define MONOTONIC_BIT (1L << 30)
#define MICROSECONDS 1000000

static int64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * MICROSECONDS + time.tv_nsec / 1000;
}

static uint64_t monotonic_time(const struct timeval *time) {
  long microseconds = time->tv_usec & ~MONOTONIC_BIT;
  int64_t due = (int64_t)time->tv_sec * MICROSECONDS + microseconds;
  if (!(time->tv_usec & MONOTONIC_BIT)) due += now(CLOCK_MONOTONIC) - now(CLOCK_REALTIME);
  return due > 0 ? (uint64_t)due : 0;
}

static int time_passed(sd_event_source *source, uint64_t due, void *userdata) {
  (void)source;
  (void)due;
  pa_time_event *event = userdata;
  event->callback(event->api, event, &event->time, event->userdata);
  return 0;
}

static pa_time_event *time_new(
    pa_mainloop_api *api, const struct timeval *time, pa_time_event_cb_t callback,
    void *userdata) {
  pa_time_event *event = allocate(sizeof *event);
  event->api = api;
  event->callback = callback;
  event->userdata = userdata;
  if (time) event->time = *time;
  require(sd_event_add_time(
      api->userdata, &event->source, CLOCK_MONOTONIC, time ? monotonic_time(time) : UINT64_MAX, 0,
      time_passed, event));
  return event;
}

static void time_restart(pa_time_event *event, const struct timeval *time) {
  if (!time) {
    require(sd_event_source_set_enabled(event->source, SD_EVENT_OFF));
    return;
  }
  event->time = *time;
  require(sd_event_source_set_time(event->source, monotonic_time(time)));
  require(sd_event_source_set_enabled(event->source, SD_EVENT_ONESHOT));
}

static void time_free(pa_time_event *event) {
  sd_event_source_disable_unref(event->source);
  if (event->destroy) event->destroy(event->api, event, event->userdata);
  free(event);
}

static void time_set_destroy(pa_time_event *event, pa_time_event_destroy_cb_t destroy) {
  event->destroy = destroy;
}

// MARK: Deferred work

static int deferred(sd_event_source *source, void *userdata) {
  (void)source;
  pa_defer_event *event = userdata;
  event->callback(event->api, event, event->userdata);
  return 0;
}

static pa_defer_event *defer_new(
    pa_mainloop_api *api, pa_defer_event_cb_t callback, void *userdata) {
  pa_defer_event *event = allocate(sizeof *event);
  event->api = api;
  event->callback = callback;
  event->userdata = userdata;
  require(sd_event_add_defer(api->userdata, &event->source, deferred, event));
  require(sd_event_source_set_enabled(event->source, SD_EVENT_ON));
  return event;
}

static void defer_enable(pa_defer_event *event, int is_enabled) {
  require(sd_event_source_set_enabled(event->source, is_enabled ? SD_EVENT_ON : SD_EVENT_OFF));
}

static void defer_free(pa_defer_event *event) {
  sd_event_source_disable_unref(event->source);
  if (event->destroy) event->destroy(event->api, event, event->userdata);
  free(event);
}

static void defer_set_destroy(pa_defer_event *event, pa_defer_event_destroy_cb_t destroy) {
  event->destroy = destroy;
}

// A client of the audio server never quits the loop.
static void quit(pa_mainloop_api *api, int result) {
  (void)api;
  (void)result;
}

pa_mainloop_api cpulse_loop_api(sd_event *event) {
  return (pa_mainloop_api){
      .userdata = event,
      .io_new = io_new,
      .io_enable = io_enable,
      .io_free = io_free,
      .io_set_destroy = io_set_destroy,
      .time_new = time_new,
      .time_restart = time_restart,
      .time_free = time_free,
      .time_set_destroy = time_set_destroy,
      .defer_new = defer_new,
      .defer_enable = defer_enable,
      .defer_free = defer_free,
      .defer_set_destroy = defer_set_destroy,
      .quit = quit,
  };
}
