// The measurements of playback streams. cpulse_set_measured begins and ends them.
#pragma once

#include "CPulse.h"

// Whether a stream is measured and played only silence in the last second.
bool cpulse_is_silent(const cpulse *pulse, const cpulse_stream *stream);
// Ends all measurements.
void cpulse_end_measurements(cpulse *pulse);
