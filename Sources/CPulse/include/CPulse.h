// A client of PulseAudio's protocol, which PipeWire's pipewire-pulse also serves, for Swift.
//
// libpulse calls its client back from an event loop. This target runs libpulse on an event loop of
// its own, whose descriptor the agent's loop watches, and collects what the callbacks deliver. The
// agent calls cpulse_dispatch when the descriptor is readable, and then reads the results. C thus
// never calls Swift, and a failed connection is never replaced from within a callback of libpulse.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  CPULSE_CONNECTING,
  // The connection is ready, and the list of streams is being read for the first time.
  CPULSE_LISTING,
  // The list of streams is known.
  CPULSE_READY,
  // The connection has ended. cpulse_error returns the reason.
  CPULSE_ENDED
};

// The purpose of a stream: the property media.role of the stream, or else of its client.
typedef enum {
  // There is no such property.
  CPULSE_ROLE_NONE,
  CPULSE_ROLE_OTHER,
  CPULSE_ROLE_PHONE,
  CPULSE_ROLE_EVENT,
  CPULSE_ROLE_NOTIFICATION,
  CPULSE_ROLE_ACCESSIBILITY
} cpulse_role;

// A stream of the audio server.
typedef struct {
  uint32_t index;
  cpulse_role role;
  // The volume of the loudest channel; 0x10000 is 100 %. 0 for a recording stream, and 100 % for a
  // playback stream without a volume.
  uint32_t volume;
  bool is_recording;
  bool is_corked;
  bool is_muted;
  // Whether the volume is above zero. True for a stream without a volume.
  bool is_loud;
  // Whether the stream is connected to a device.
  bool has_device;
  // The process that holds the stream; 0 if the server does not know it.
  int32_t pid;
  // Whether the server knows the pid only from the client itself.
  bool is_claimed;
  // Whether a measured stream has played only silence since the last measurement.
  bool is_silent;
  // A number for the entry of the server's database that remembers the mute and the volume of the
  // stream; 0 if there is no such entry. A new stream begins with the mute and the volume in its
  // entry.
  uint32_t memory;
} cpulse_stream;

typedef struct cpulse cpulse;

// Begins to connect to the server at the path. On failure, returns NULL, and sets *error to a
// negated errno.
cpulse *cpulse_new(const char *path, int *error);
// Closes the connection.
void cpulse_free(cpulse *pulse);
// A descriptor that is readable when cpulse_dispatch must be called.
int cpulse_descriptor(const cpulse *pulse);
// Handles what has arrived, without waiting. Returns 0 if nothing more is pending, or a negated
// errno. Returns a positive number if more may be pending: the caller must then call again.
int cpulse_dispatch(cpulse *pulse);

int cpulse_state(const cpulse *pulse);
// The reason for the end of the connection, in English.
const char *cpulse_error(const cpulse *pulse);
// Whether no server listens at the path.
bool cpulse_is_refused(const cpulse *pulse);
// A random number that the server chose when it started.
uint32_t cpulse_cookie(const cpulse *pulse);

// Whether the server itself lowers, mutes or pauses streams by their roles. The first list has the
// first answer. If a module or a sink is added or removed later (`pactl load-module`),
// cpulse_is_stale returns true, and the next list has the new answer.
bool cpulse_manages_roles(const cpulse *pulse);

// Whether the last list may be out of date: since it was requested, the server has reported a
// change, a measured stream has become silent or loud, or cpulse_set_mute, cpulse_set_volume or
// cpulse_refresh was called. False while a list is being read.
bool cpulse_is_stale(const cpulse *pulse);
// Begins to read the list again. If it is being read, cpulse_is_stale returns true after that.
void cpulse_refresh(cpulse *pulse);
// Returns true once after each list that was read completely.
bool cpulse_take_listed(cpulse *pulse);
size_t cpulse_stream_count(const cpulse *pulse);
cpulse_stream cpulse_stream_at(const cpulse *pulse, size_t number);

// Mutes a playback stream, or ends its mute. Ignores a stream that has ended.
void cpulse_set_mute(cpulse *pulse, uint32_t index, bool is_muted);
// Sets the volume of the loudest channel of a playback stream, and keeps the balance that the
// channels have in the last list. Ignores a stream that is not in that list or has no volume, and a
// stream at volume zero, which has no balance.
void cpulse_set_volume(cpulse *pulse, uint32_t index, uint32_t volume);
// Begins or ends the measurement of a playback stream: once a second, the server sends the highest
// sample. When a stream becomes silent or loud, cpulse_is_stale returns true.
void cpulse_set_measured(cpulse *pulse, uint32_t index, bool is_measured);
