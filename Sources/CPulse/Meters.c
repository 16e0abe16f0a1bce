#include "Meters.h"

#include <pulse/stream.h>
#include <stdlib.h>

#include "State.h"

// The measurement of a playback stream.
struct meter {
  struct meter *next;
  cpulse *pulse;
  uint32_t index;
  pa_stream *stream;
  bool is_silent;
};

// The limit of silence: half a step of 16-bit audio. Resampling and volume change a sample of
// silence by less than this, so the sample stays below the limit.
#define SILENCE (0.5f / 32768)

static void measured(pa_stream *stream, size_t size, void *userdata) {
  (void)size;
  meter *meter = userdata;
  float peak = -1;
  const void *data;
  size_t count;
  while (pa_stream_readable_size(stream) > 0) {
    if (pa_stream_peek(stream, &data, &count) < 0 || count == 0) break;
    const float *samples = data;
    for (size_t number = 0; samples && number < count / sizeof *samples; number++) {
      if (samples[number] > peak) peak = samples[number];
    }
    pa_stream_drop(stream);
  }
  if (peak < 0) return;
  bool is_silent = peak < SILENCE;
  if (is_silent != meter->is_silent) meter->pulse->is_stale = true;
  meter->is_silent = is_silent;
}

static void free_meter(meter *meter) {
  pa_stream_set_read_callback(meter->stream, NULL, NULL);
  pa_stream_disconnect(meter->stream);
  pa_stream_unref(meter->stream);
  free(meter);
}

static void begin_measuring(cpulse *pulse, uint32_t index) {
  pa_sample_spec spec = {.format = PA_SAMPLE_FLOAT32NE, .rate = 1, .channels = 1};
  pa_stream *stream = pa_stream_new(pulse->context, "silence", &spec, NULL);
  meter *meter = calloc(1, sizeof *meter);
  if (!stream || !meter) {
    if (stream) pa_stream_unref(stream);
    free(meter);
    return;
  }
  *meter = (struct meter){.next = pulse->meters, .pulse = pulse, .index = index, .stream = stream};
  pulse->meters = meter;
  pa_stream_set_read_callback(stream, measured, meter);
  pa_stream_set_monitor_stream(stream, index);
  pa_buffer_attr attributes = {.maxlength = UINT32_MAX, .fragsize = sizeof(float)};
  // A stream that cannot be measured counts as loud.
  pa_stream_connect_record(
      stream, NULL, &attributes,
      PA_STREAM_DONT_MOVE | PA_STREAM_PEAK_DETECT | PA_STREAM_ADJUST_LATENCY |
          PA_STREAM_DONT_INHIBIT_AUTO_SUSPEND);
}

void cpulse_set_measured(cpulse *pulse, uint32_t index, bool is_measured) {
  if (pulse->state != CPULSE_LISTING && pulse->state != CPULSE_READY) return;
  for (meter **link = &pulse->meters; *link; link = &(*link)->next) {
    meter *found = *link;
    if (found->index != index) continue;
    if (is_measured) return;
    *link = found->next;
    if (found->is_silent) pulse->is_stale = true;
    free_meter(found);
    return;
  }
  if (is_measured) begin_measuring(pulse, index);
}

bool cpulse_is_silent(const cpulse *pulse, const cpulse_stream *stream) {
  if (stream->is_recording) return false;
  for (const meter *meter = pulse->meters; meter; meter = meter->next) {
    if (meter->index == stream->index) return meter->is_silent;
  }
  return false;
}

void cpulse_end_measurements(cpulse *pulse) {
  while (pulse->meters) {
    meter *meter = pulse->meters;
    pulse->meters = meter->next;
    free_meter(meter);
  }
}
