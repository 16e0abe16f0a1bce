// The media roles of streams, and the signs that a server itself manages streams by their roles.
#pragma once

#include <pulse/introspect.h>
#include <pulse/proplist.h>

#include "CPulse.h"

// Returns the role that the property media.role names; CPULSE_ROLE_NONE without the property.
cpulse_role cpulse_read_role(const pa_proplist *properties);
// Returns a number for the database entry in which the server remembers the volume of a stream with
// these properties. Returns 0 if there is no such entry. PulseAudio and PipeWire report the entry's
// name in the same property.
uint32_t cpulse_read_memory(const pa_proplist *properties);
// Whether a module of PulseAudio lowers, mutes or pauses streams because of the roles of other
// streams.
bool cpulse_is_role_module(const pa_module_info *module);
// Whether a sink belongs to WirePlumber's policy that links, lowers or pauses streams by roles.
bool cpulse_is_role_sink(const pa_sink_info *sink);
