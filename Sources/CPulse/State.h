// The state of a connection, which CPulse.c and Meters.c share.
#pragma once

#include <pulse/context.h>
#include <pulse/mainloop-api.h>
#include <pulse/volume.h>
#include <systemd/sd-event.h>

#include "CPulse.h"

// A client of the server.
typedef struct {
  uint32_t index;
  int32_t pid;
  bool is_claimed;
  cpulse_role role;
} client;

// A stream of a list.
typedef struct {
  cpulse_stream shown;
  // Has no channels if the volume cannot be set.
  pa_cvolume volume;
} entry;

// The measurement of a stream.
typedef struct meter meter;

struct cpulse {
  sd_event *event;
  pa_mainloop_api api;
  pa_context *context;
  int state;
  int error;
  uint32_t cookie;
  bool is_pipewire;
  bool is_listing;
  bool is_stale;
  bool is_listed;
  bool manages_roles;
  // Whether the modules and sinks must be read with the next list.
  bool are_roles_stale;
  // Whether the modules and sinks that have been read for the current list manage roles.
  bool has_role_policy;
  // The clients and streams of the list that is being read.
  client *clients;
  size_t client_count, client_capacity;
  entry *fresh;
  size_t fresh_count, fresh_capacity;
  // The streams of the last complete list.
  entry *streams;
  size_t stream_count, stream_capacity;
  meter *meters;
};
