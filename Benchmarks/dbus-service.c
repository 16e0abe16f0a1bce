/* A D-Bus service with the methods BeginBackgroundTask and EndBackgroundTask, which only reply.
 *
 *   dbus-service ADDRESS
 *
 * Prints "ready" when it accepts calls.
 */
#include "wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

static uint64_t task_last;

static int begin(sd_bus_message *message, void *userdata, sd_bus_error *error) {
  (void)userdata, (void)error;
  const char *name;
  int result = sd_bus_message_read(message, "s", &name);
  if (result < 0) return result;
  return sd_bus_reply_method_return(message, "tx", ++task_last, (int64_t)-1);
}

static int end(sd_bus_message *message, void *userdata, sd_bus_error *error) {
  (void)userdata, (void)error;
  uint64_t task;
  int result = sd_bus_message_read(message, "t", &task);
  if (result < 0) return result;
  return sd_bus_reply_method_return(message, "");
}

static const sd_bus_vtable table[] = {
  SD_BUS_VTABLE_START(0),
  SD_BUS_METHOD("BeginBackgroundTask", "s", "tx", begin, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD("EndBackgroundTask", "t", "", end, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static void check(const char *what, int result) {
  if (result < 0) fail_text(what, strerror(-result));
}

int main(int count, char **arguments) {
  if (count != 2) fail_text("usage", "dbus-service ADDRESS");
  sd_bus *bus = NULL;
  check("sd_bus_new", sd_bus_new(&bus));
  check("sd_bus_set_address", sd_bus_set_address(bus, arguments[1]));
  check("sd_bus_set_bus_client", sd_bus_set_bus_client(bus, 1));
  check("sd_bus_start", sd_bus_start(bus));
  check("sd_bus_add_object_vtable", sd_bus_add_object_vtable(
    bus, NULL, "/org/taskschedd/Benchmark", "org.taskschedd.Benchmark", table, NULL));
  check("sd_bus_request_name", sd_bus_request_name(bus, "org.taskschedd.Benchmark", 0));
  puts("ready");
  fflush(stdout);
  for (;;) {
    int result = sd_bus_process(bus, NULL);
    check("sd_bus_process", result);
    if (result == 0) check("sd_bus_wait", sd_bus_wait(bus, UINT64_MAX));
  }
}
