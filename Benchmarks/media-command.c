/* Measures the time from a command to a media player until the player's reply.
 *
 *   media-command ADDRESS NAME
 *     Waits until a player owns NAME on the bus at ADDRESS, and prints "ready". Then reads methods
 *     of org.mpris.MediaPlayer2.Player, such as PlayPause, one in each line of standard input.
 *     Calls each method, and prints the time from the call until the reply in nanoseconds.
 */
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

#define LIMIT_NS 10000000000
#define PAUSE_NS 5000000

static void check(const char *what, int result) {
  if (result < 0) fail_text(what, strerror(-result));
}

static bool has_owner(sd_bus *bus, const char *name) {
  sd_bus_message *reply = NULL;
  int is_owned = 0;
  check("NameHasOwner", sd_bus_call_method(
    bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
    NULL, &reply, "s", name));
  check("NameHasOwner", sd_bus_message_read(reply, "b", &is_owned));
  sd_bus_message_unref(reply);
  return is_owned;
}

static void wait_for_owner(sd_bus *bus, const char *name) {
  uint64_t limit = now_ns() + LIMIT_NS;
  struct timespec pause = {.tv_nsec = PAUSE_NS};
  while (!has_owner(bus, name)) {
    if (now_ns() > limit) fail_text(name, "no player owned this name within 10 s");
    nanosleep(&pause, NULL);
  }
}

/* Returns the time until the reply in nanoseconds. */
static uint64_t command(sd_bus *bus, const char *name, const char *method) {
  sd_bus_message *call = NULL, *reply = NULL;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  check(method, sd_bus_message_new_method_call(
    bus, &call, name, "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player", method));
  uint64_t start = now_ns();
  int result = sd_bus_call(bus, call, LIMIT_NS / 1000, &error, &reply);
  uint64_t end = now_ns();
  if (result < 0) fail_text(method, error.message ? error.message : strerror(-result));
  sd_bus_message_unref(call);
  sd_bus_message_unref(reply);
  return end - start;
}

int main(int count, char **arguments) {
  if (count != 3) fail_text("usage", "media-command ADDRESS NAME");
  sd_bus *bus = NULL;
  check("sd_bus_new", sd_bus_new(&bus));
  check("sd_bus_set_address", sd_bus_set_address(bus, arguments[1]));
  check("sd_bus_set_bus_client", sd_bus_set_bus_client(bus, 1));
  check("sd_bus_start", sd_bus_start(bus));
  wait_for_owner(bus, arguments[2]);
  puts("ready");
  fflush(stdout);
  char method[64];
  while (fgets(method, sizeof method, stdin)) {
    method[strcspn(method, "\n")] = 0;
    printf("%" PRIu64 "\n", command(bus, arguments[2], method));
    fflush(stdout);
  }
  sd_bus_flush_close_unref(bus);
  return 0;
}
