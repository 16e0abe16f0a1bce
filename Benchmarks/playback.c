/* Plays a tone through PulseAudio or pipewire-pulse, or watches the streams of the server.
 *
 *   playback play MILLISECONDS
 *     Plays a tone with this latency. When the server plays the tone, prints "ready". Then reads
 *     commands, one in each line of standard input, and answers each with a number:
 *       pause, continue   pauses the tone or continues it. The answer is the instant before the
 *                         request, in nanoseconds since boot.
 *       underruns         The answer is how often the server had no data of the tone to play.
 *   playback watch
 *     Subscribes to the changes of playback streams, as `pactl subscribe` does. Prints "ready", and
 *     then the instant of each change in nanoseconds since boot.
 */
#include "wire.h"

#include <inttypes.h>
#include <pulse/pulseaudio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE = 48000, PERIOD = RATE / 480, STEP = 80 };

static pa_context *context;
static pa_stream *stream;
static bool is_ready, is_watching;
static uint32_t latency_ms;
static uint64_t position, underruns;

static _Noreturn void fail_pulse(const char *what) {
  fail_text(what, pa_strerror(pa_context_errno(context)));
}

static void start(const char *what, pa_operation *operation) {
  if (!operation) fail_pulse(what);
  pa_operation_unref(operation);
}

static void print(uint64_t number) {
  printf("%" PRIu64 "\n", number);
  fflush(stdout);
}

static void print_ready(void) {
  if (is_ready) return;
  is_ready = true;
  puts("ready");
  fflush(stdout);
}

/* Writes a sawtooth. */
static void wanted(pa_stream *of, size_t size, void *userdata) {
  (void)userdata;
  void *data;
  if (pa_stream_begin_write(of, &data, &size) < 0) fail_pulse("pa_stream_begin_write");
  int16_t *samples = data;
  for (size_t index = 0; index < size / sizeof *samples; index++)
    samples[index] = (int16_t)((int)(position++ % PERIOD - PERIOD / 2) * STEP);
  if (pa_stream_write(of, data, size, NULL, 0, PA_SEEK_RELATIVE) < 0) fail_pulse("pa_stream_write");
}

static void underran(pa_stream *of, void *userdata) {
  (void)of, (void)userdata;
  underruns++;
}

static void started(pa_stream *of, void *userdata) {
  (void)of, (void)userdata;
  print_ready();
}

static void stream_changed(pa_stream *of, void *userdata) {
  (void)userdata;
  if (pa_stream_get_state(of) == PA_STREAM_FAILED) fail_pulse("the stream");
}

static void play(void) {
  const pa_sample_spec format = {.format = PA_SAMPLE_S16NE, .rate = RATE, .channels = 1};
  stream = pa_stream_new(context, "tone", &format, NULL);
  if (!stream) fail_pulse("pa_stream_new");
  pa_stream_set_state_callback(stream, stream_changed, NULL);
  pa_stream_set_write_callback(stream, wanted, NULL);
  pa_stream_set_underflow_callback(stream, underran, NULL);
  pa_stream_set_started_callback(stream, started, NULL);
  const pa_buffer_attr buffer = {
    .maxlength = UINT32_MAX, .prebuf = UINT32_MAX, .minreq = UINT32_MAX, .fragsize = UINT32_MAX,
    .tlength = (uint32_t)pa_usec_to_bytes(latency_ms * PA_USEC_PER_MSEC, &format)};
  if (pa_stream_connect_playback(stream, NULL, &buffer, PA_STREAM_ADJUST_LATENCY, NULL, NULL) < 0)
    fail_pulse("pa_stream_connect_playback");
}

static void cork(bool is_paused) {
  print(now_ns());
  start("pa_stream_cork", pa_stream_cork(stream, is_paused, NULL, NULL));
}

static void execute(const char *command) {
  if (strcmp(command, "pause") == 0)
    cork(true);
  else if (strcmp(command, "continue") == 0)
    cork(false);
  else if (strcmp(command, "underruns") == 0)
    print(underruns);
  else
    fail_text("playback: unknown command", command);
}

static void readable(
  pa_mainloop_api *api, pa_io_event *event, int fd, pa_io_event_flags_t flags, void *userdata) {
  (void)event, (void)flags, (void)userdata;
  char line[32];
  ssize_t count = read(fd, line, sizeof line - 1);
  if (count < 0) fail("standard input");
  if (count == 0) return api->quit(api, 0);
  /* The caller waits for each answer before it sends another command, so this is one command. */
  line[count] = 0;
  line[strcspn(line, "\n")] = 0;
  execute(line);
}

static void changed(
  pa_context *of, pa_subscription_event_type_t type, uint32_t index, void *userdata) {
  (void)of, (void)index, (void)userdata;
  if ((type & PA_SUBSCRIPTION_EVENT_TYPE_MASK) == PA_SUBSCRIPTION_EVENT_CHANGE) print(now_ns());
}

static void subscribed(pa_context *of, int success, void *userdata) {
  (void)of, (void)userdata;
  if (!success) fail_pulse("pa_context_subscribe");
  print_ready();
}

static void watch(void) {
  pa_context_set_subscribe_callback(context, changed, NULL);
  start(
    "pa_context_subscribe",
    pa_context_subscribe(context, PA_SUBSCRIPTION_MASK_SINK_INPUT, subscribed, NULL));
}

static void context_changed(pa_context *of, void *userdata) {
  (void)userdata;
  pa_context_state_t state = pa_context_get_state(of);
  if (!PA_CONTEXT_IS_GOOD(state)) fail_pulse("the audio server");
  if (state != PA_CONTEXT_READY) return;
  if (is_watching)
    watch();
  else
    play();
}

int main(int count, char **arguments) {
  is_watching = count == 2 && strcmp(arguments[1], "watch") == 0;
  if (!is_watching && (count != 3 || strcmp(arguments[1], "play") != 0))
    fail_text("usage", "playback play MILLISECONDS | watch");
  if (!is_watching) latency_ms = (uint32_t)atoi(arguments[2]);
  pa_mainloop *loop = pa_mainloop_new();
  if (!loop) fail_text("pa_mainloop_new", "no memory");
  pa_mainloop_api *api = pa_mainloop_get_api(loop);
  api->io_new(api, STDIN_FILENO, PA_IO_EVENT_INPUT, readable, NULL);
  context = pa_context_new(api, "playback");
  if (!context) fail_text("pa_context_new", "no memory");
  pa_context_set_state_callback(context, context_changed, NULL);
  if (pa_context_connect(context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0)
    fail_pulse("pa_context_connect");
  int result = 0;
  if (pa_mainloop_run(loop, &result) < 0) fail_text("pa_mainloop_run", "failed");
  return result;
}
