/* Measures the round trip of BeginBackgroundTask: at the daemon, at the echo server with the same
 * bytes, and over D-Bus. The three take turns. After each call, the program ends the task again,
 * which it does not measure.
 *
 *   round-trip ROUNDS CALLS DAEMON-SOCKET [ECHO-SOCKET [DBUS-ADDRESS]]
 *
 * CALLS is the number of calls to one peer in one round. For each peer and round, the program
 * prints a line "PEER P50 P99" in nanoseconds. With "-" as DAEMON-SOCKET, it does not call the
 * daemon.
 */
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define REQUEST                                                    \
  "{\"method\":\"org.taskschedd.Application.BeginBackgroundTask\"," \
  "\"parameters\":{\"name\":\"benchmark\"}}"

static uint64_t *samples;
static size_t calls_count;

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void report(const char *peer) {
  qsort(samples, calls_count, sizeof *samples, compare);
  printf(
    "%s %" PRIu64 " %" PRIu64 "\n", peer, samples[calls_count / 2],
    samples[calls_count * 99 / 100]);
}

/* Measures calls to the daemon or to the echo server, which sends the same replies. */
static void measure_socket(const char *peer, struct channel *channel) {
  for (size_t index = 0; index < calls_count; index++) {
    uint64_t start = now_ns();
    channel_send(channel, REQUEST);
    const char *answer = channel_receive(channel);
    samples[index] = now_ns() - start;
    char end[64];
    snprintf(end, sizeof end, "{\"task\":%" PRId64 "}", integer_after(answer, "task"));
    call(channel, "EndBackgroundTask", end);
  }
  report(peer);
}

static sd_bus *open_bus(const char *address) {
  sd_bus *bus = NULL;
  if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, address) < 0
      || sd_bus_set_bus_client(bus, 1) < 0 || sd_bus_start(bus) < 0)
    fail_text("D-Bus", address);
  return bus;
}

static sd_bus_message *call_bus(sd_bus *bus, const char *method, const char *type, ...) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *answer = NULL;
  va_list values;
  va_start(values, type);
  int result = sd_bus_call_methodv(
    bus, "org.taskschedd.Benchmark", "/org/taskschedd/Benchmark", "org.taskschedd.Benchmark",
    method, &error, &answer, type, values);
  va_end(values);
  if (result < 0) fail_text(method, error.message ? error.message : strerror(-result));
  return answer;
}

static void measure_bus(sd_bus *bus) {
  for (size_t index = 0; index < calls_count; index++) {
    uint64_t task;
    int64_t remaining;
    uint64_t start = now_ns();
    sd_bus_message *answer = call_bus(bus, "BeginBackgroundTask", "s", "benchmark");
    if (sd_bus_message_read(answer, "tx", &task, &remaining) < 0) fail_text("D-Bus", "answer");
    samples[index] = now_ns() - start;
    sd_bus_message_unref(answer);
    sd_bus_message_unref(call_bus(bus, "EndBackgroundTask", "t", task));
  }
  report("dbus");
}

int main(int count, char **arguments) {
  if (count < 4 || count > 6)
    fail_text("usage", "round-trip ROUNDS CALLS DAEMON-SOCKET [ECHO-SOCKET [DBUS-ADDRESS]]");
  int rounds = atoi(arguments[1]);
  calls_count = (size_t)atoi(arguments[2]);
  samples = calloc(calls_count, sizeof *samples);
  int with_daemon = strcmp(arguments[3], "-") != 0;
  struct application application;
  if (with_daemon) {
    application_register(&application, arguments[3], "org.example.roundtrip", false);
    application_acknowledge(&application);
    application_acknowledge(&application);
  }
  struct channel echo;
  if (count > 4) channel_open(&echo, arguments[4]);
  sd_bus *bus = count > 5 ? open_bus(arguments[5]) : NULL;
  for (int round = 0; round < rounds; round++) {
    if (with_daemon) measure_socket("daemon", &application.calls);
    if (count > 4) measure_socket("echo", &echo);
    if (bus) measure_bus(bus);
  }
  return 0;
}
