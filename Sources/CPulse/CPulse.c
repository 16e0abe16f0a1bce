// For asprintf and reallocarray.
#define _GNU_SOURCE

#include "CPulse.h"

#include <errno.h>
#include <pulse/context.h>
#include <pulse/error.h>
#include <pulse/introspect.h>
#include <pulse/operation.h>
#include <pulse/proplist.h>
#include <pulse/subscribe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "EventLoop.h"
#include "Meters.h"
#include "Roles.h"
#include "State.h"

// The number of steps after which cpulse_dispatch returns, so that the agent's loop handles other
// events while a server sends without a pause.
enum { STEPS_MAX = 64 };

static void *grown(void *items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return items;
  size_t next = *capacity ? *capacity * 2 : 16;
  void *result = reallocarray(items, next, size);
  if (!result) abort();
  *capacity = next;
  return result;
}

static void end(cpulse *pulse, int error) {
  if (pulse->state == CPULSE_ENDED) return;
  pulse->state = CPULSE_ENDED;
  pulse->error = error;
}

// Lets a request run. It ends by itself when the context is closed.
static void start(cpulse *pulse, pa_operation *operation) {
  if (operation) {
    pa_operation_unref(operation);
  } else {
    end(pulse, pa_context_errno(pulse->context));
  }
}

// MARK: The list of streams

static int32_t number(const char *text) {
  if (!text || *text < '1' || *text > '9') return 0;
  char *rest = NULL;
  errno = 0;
  long value = strtol(text, &rest, 10);
  return errno || *rest || value > INT32_MAX ? 0 : (int32_t)value;
}

static int32_t claimed_pid(const pa_proplist *properties) {
  return number(pa_proplist_gets(properties, PA_PROP_APPLICATION_PROCESS_ID));
}

// Reads the process of a client. PipeWire reads the pid of a client from the client's socket. For a
// client of pipewire-pulse, this is the pid of pipewire-pulse. On PulseAudio, the client itself
// sets every property.
static client read_client(const cpulse *pulse, const pa_client_info *info) {
  const char *api = pa_proplist_gets(info->proplist, "client.api");
  int32_t certain = number(pa_proplist_gets(info->proplist, "pipewire.sec.pid"));
  bool is_native = !api || strcmp(api, "pipewire-pulse") != 0;
  cpulse_role role = cpulse_read_role(info->proplist);
  if (pulse->is_pipewire && certain > 0 && is_native) {
    return (client){info->index, certain, false, role};
  }
  return (client){info->index, claimed_pid(info->proplist), true, role};
}

// Sets the process and the role of a stream by its own properties and by its client.
static void set_client(
    const cpulse *pulse, cpulse_stream *stream, uint32_t index, const pa_proplist *properties) {
  stream->is_claimed = true;
  stream->role = cpulse_read_role(properties);
  stream->memory = cpulse_read_memory(properties);
  for (size_t number = 0; number < pulse->client_count; number++) {
    const client *one = &pulse->clients[number];
    if (one->index != index) continue;
    stream->pid = one->pid;
    stream->is_claimed = one->is_claimed;
    if (stream->role == CPULSE_ROLE_NONE) stream->role = one->role;
  }
  if (stream->pid == 0) stream->pid = claimed_pid(properties);
}

static void add(cpulse *pulse, entry stream) {
  pulse->fresh = grown(
      pulse->fresh, pulse->fresh_count, &pulse->fresh_capacity, sizeof *pulse->fresh);
  pulse->fresh[pulse->fresh_count++] = stream;
}

static void finish_list(cpulse *pulse) {
  entry *streams = pulse->streams;
  size_t capacity = pulse->stream_capacity;
  pulse->streams = pulse->fresh;
  pulse->stream_count = pulse->fresh_count;
  pulse->stream_capacity = pulse->fresh_capacity;
  pulse->fresh = streams;
  pulse->fresh_capacity = capacity;
  pulse->is_listing = false;
  pulse->is_listed = true;
  pulse->state = CPULSE_READY;
}

// Handles the end of a part of the list. Returns whether the part is complete.
static bool is_complete(cpulse *pulse, int end_of_list) {
  if (end_of_list < 0) end(pulse, pa_context_errno(pulse->context));
  return end_of_list > 0;
}

static void got_source_output(
    pa_context *context, const pa_source_output_info *info, int end_of_list, void *userdata) {
  (void)context;
  cpulse *pulse = userdata;
  if (end_of_list) {
    if (is_complete(pulse, end_of_list)) finish_list(pulse);
    return;
  }
  cpulse_stream stream = {
      .index = info->index,
      .is_recording = true,
      .is_corked = info->corked,
      .is_muted = info->has_volume && info->mute,
      .is_loud = true,
      .has_device = info->source != PA_INVALID_INDEX,
  };
  set_client(pulse, &stream, info->client, info->proplist);
  // The agent's own recording streams measure other streams.
  if (stream.pid == getpid()) return;
  add(pulse, (entry){.shown = stream});
}

static void got_sink_input(
    pa_context *context, const pa_sink_input_info *info, int end_of_list, void *userdata) {
  cpulse *pulse = userdata;
  if (end_of_list) {
    if (is_complete(pulse, end_of_list)) {
      start(pulse, pa_context_get_source_output_info_list(context, got_source_output, pulse));
    }
    return;
  }
  uint32_t volume = info->has_volume ? pa_cvolume_max(&info->volume) : PA_VOLUME_NORM;
  cpulse_stream stream = {
      .index = info->index,
      .volume = volume,
      .is_corked = info->corked,
      .is_muted = info->mute,
      .is_loud = volume > PA_VOLUME_MUTED,
      .has_device = info->sink != PA_INVALID_INDEX,
  };
  set_client(pulse, &stream, info->client, info->proplist);
  entry entry = {.shown = stream};
  if (info->has_volume && info->volume_writable) entry.volume = info->volume;
  add(pulse, entry);
}

static void got_client(
    pa_context *context, const pa_client_info *info, int end_of_list, void *userdata) {
  cpulse *pulse = userdata;
  if (end_of_list) {
    if (is_complete(pulse, end_of_list)) {
      start(pulse, pa_context_get_sink_input_info_list(context, got_sink_input, pulse));
    }
    return;
  }
  pulse->clients = grown(
      pulse->clients, pulse->client_count, &pulse->client_capacity, sizeof *pulse->clients);
  pulse->clients[pulse->client_count++] = read_client(pulse, info);
}

static void list_clients(cpulse *pulse) {
  start(pulse, pa_context_get_client_info_list(pulse->context, got_client, pulse));
}

// A server that refuses to list its modules or sinks can still list its streams. The functions
// below therefore do not end the connection if they receive an error.

static void got_sink(
    pa_context *context, const pa_sink_info *info, int end_of_list, void *userdata) {
  (void)context;
  cpulse *pulse = userdata;
  if (end_of_list) {
    pulse->manages_roles = pulse->has_role_policy;
    list_clients(pulse);
  } else if (cpulse_is_role_sink(info)) {
    pulse->has_role_policy = true;
  }
}

static void got_module(
    pa_context *context, const pa_module_info *info, int end_of_list, void *userdata) {
  cpulse *pulse = userdata;
  if (end_of_list) {
    start(pulse, pa_context_get_sink_info_list(context, got_sink, pulse));
  } else if (cpulse_is_role_module(info)) {
    pulse->has_role_policy = true;
  }
}

static void begin_list(cpulse *pulse) {
  pulse->is_listing = true;
  pulse->is_stale = false;
  pulse->client_count = 0;
  pulse->fresh_count = 0;
  if (!pulse->are_roles_stale) return list_clients(pulse);
  pulse->are_roles_stale = false;
  pulse->has_role_policy = false;
  start(pulse, pa_context_get_module_info_list(pulse->context, got_module, pulse));
}

// MARK: The connection

static void got_server(pa_context *context, const pa_server_info *info, void *userdata) {
  cpulse *pulse = userdata;
  if (!info) {
    end(pulse, pa_context_errno(context));
    return;
  }
  pulse->cookie = info->cookie;
  pulse->is_pipewire = info->server_name && strstr(info->server_name, "PipeWire");
  pulse->are_roles_stale = true;
  begin_list(pulse);
}

static void changed(
    pa_context *context, pa_subscription_event_type_t type, uint32_t index, void *userdata) {
  (void)context;
  (void)index;
  cpulse *pulse = userdata;
  pa_subscription_event_type_t facility = type & PA_SUBSCRIPTION_EVENT_FACILITY_MASK;
  if (facility == PA_SUBSCRIPTION_EVENT_MODULE || facility == PA_SUBSCRIPTION_EVENT_SINK) {
    // A sink changes with its volume and whenever it becomes idle, but its name stays.
    if ((type & PA_SUBSCRIPTION_EVENT_TYPE_MASK) == PA_SUBSCRIPTION_EVENT_CHANGE) return;
    pulse->are_roles_stale = true;
  }
  pulse->is_stale = true;
}

static void state_changed(pa_context *context, void *userdata) {
  cpulse *pulse = userdata;
  switch (pa_context_get_state(context)) {
    case PA_CONTEXT_UNCONNECTED:
    case PA_CONTEXT_CONNECTING:
    case PA_CONTEXT_AUTHORIZING:
    case PA_CONTEXT_SETTING_NAME:
      break;
    case PA_CONTEXT_READY:
      pulse->state = CPULSE_LISTING;
      pa_context_set_subscribe_callback(context, changed, pulse);
      pa_subscription_mask_t mask = PA_SUBSCRIPTION_MASK_SINK_INPUT |
          PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT | PA_SUBSCRIPTION_MASK_CLIENT |
          PA_SUBSCRIPTION_MASK_MODULE | PA_SUBSCRIPTION_MASK_SINK;
      start(pulse, pa_context_subscribe(context, mask, NULL, NULL));
      start(pulse, pa_context_get_server_info(context, got_server, pulse));
      break;
    case PA_CONTEXT_FAILED:
      end(pulse, pa_context_errno(context));
      break;
    case PA_CONTEXT_TERMINATED:
      end(pulse, PA_ERR_CONNECTIONTERMINATED);
      break;
  }
}

// Creates a context while DISPLAY is not set. Otherwise libpulse would connect to the X server of
// DISPLAY, and wait for its answer, to read the address of the audio server.
static pa_context *new_context(pa_mainloop_api *api) {
  const char *display = getenv("DISPLAY");
  char *kept = display ? strdup(display) : NULL;
  if (kept) unsetenv("DISPLAY");
  pa_context *context = pa_context_new(api, "taskschedd-session");
  if (kept) setenv("DISPLAY", kept, 1);
  free(kept);
  return context;
}

cpulse *cpulse_new(const char *path, int *error) {
  *error = -ENOMEM;
  cpulse *pulse = calloc(1, sizeof *pulse);
  char *server = NULL;
  if (!pulse || asprintf(&server, "unix:%s", path) < 0) {
    free(pulse);
    return NULL;
  }
  int result = sd_event_new(&pulse->event);
  if (result < 0) {
    *error = result;
    free(server);
    free(pulse);
    return NULL;
  }
  pulse->api = cpulse_loop_api(pulse->event);
  pulse->context = new_context(&pulse->api);
  if (!pulse->context) {
    free(server);
    cpulse_free(pulse);
    return NULL;
  }
  pa_context_set_state_callback(pulse->context, state_changed, pulse);
  if (pa_context_connect(pulse->context, server, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0) {
    end(pulse, pa_context_errno(pulse->context));
  }
  free(server);
  *error = 0;
  return pulse;
}

void cpulse_free(cpulse *pulse) {
  cpulse_end_measurements(pulse);
  if (pulse->context) {
    pa_context_set_state_callback(pulse->context, NULL, NULL);
    pa_context_set_subscribe_callback(pulse->context, NULL, NULL);
    pa_context_disconnect(pulse->context);
    pa_context_unref(pulse->context);
  }
  sd_event_unref(pulse->event);
  free(pulse->clients);
  free(pulse->fresh);
  free(pulse->streams);
  free(pulse);
}

int cpulse_descriptor(const cpulse *pulse) { return sd_event_get_fd(pulse->event); }

int cpulse_dispatch(cpulse *pulse) {
  // The loop ends after a call of sd_event_run that finds nothing to do. Only such a call sets the
  // timer of the event loop.
  for (int step = 0; step < STEPS_MAX; step++) {
    int result = sd_event_run(pulse->event, 0);
    if (result <= 0) return result;
  }
  return 1;
}

int cpulse_state(const cpulse *pulse) { return pulse->state; }

const char *cpulse_error(const cpulse *pulse) { return pa_strerror(pulse->error); }

bool cpulse_is_refused(const cpulse *pulse) { return pulse->error == PA_ERR_CONNECTIONREFUSED; }

uint32_t cpulse_cookie(const cpulse *pulse) { return pulse->cookie; }

bool cpulse_manages_roles(const cpulse *pulse) { return pulse->manages_roles; }

bool cpulse_is_stale(const cpulse *pulse) {
  return pulse->state == CPULSE_READY && pulse->is_stale && !pulse->is_listing;
}

void cpulse_refresh(cpulse *pulse) {
  if (pulse->is_listing) {
    pulse->is_stale = true;
  } else if (pulse->state == CPULSE_READY) {
    begin_list(pulse);
  }
}

bool cpulse_take_listed(cpulse *pulse) {
  bool is_listed = pulse->is_listed;
  pulse->is_listed = false;
  return is_listed;
}

size_t cpulse_stream_count(const cpulse *pulse) { return pulse->stream_count; }

cpulse_stream cpulse_stream_at(const cpulse *pulse, size_t number) {
  cpulse_stream stream = pulse->streams[number].shown;
  stream.is_silent = cpulse_is_silent(pulse, &stream);
  return stream;
}

void cpulse_set_mute(cpulse *pulse, uint32_t index, bool is_muted) {
  if (pulse->state != CPULSE_LISTING && pulse->state != CPULSE_READY) return;
  pulse->is_stale = true;
  start(pulse, pa_context_set_sink_input_mute(pulse->context, index, is_muted, NULL, NULL));
}

void cpulse_set_volume(cpulse *pulse, uint32_t index, uint32_t volume) {
  if (pulse->state != CPULSE_READY) return;
  for (size_t number = 0; number < pulse->stream_count; number++) {
    const entry *stream = &pulse->streams[number];
    if (stream->shown.is_recording || stream->shown.index != index) continue;
    pa_cvolume volumes = stream->volume;
    uint64_t max = volumes.channels ? pa_cvolume_max(&volumes) : 0;
    if (max == 0) return;
    uint64_t new_max = PA_CLAMP_VOLUME(volume);
    // pa_cvolume_scale rounds down, so that the balance would drift with each change.
    for (uint8_t channel = 0; channel < volumes.channels; channel++) {
      volumes.values[channel] = (pa_volume_t)((volumes.values[channel] * new_max + max / 2) / max);
    }
    pulse->is_stale = true;
    start(
        pulse,
        pa_context_set_sink_input_volume(pulse->context, index, &volumes, NULL, NULL));
    return;
  }
}
