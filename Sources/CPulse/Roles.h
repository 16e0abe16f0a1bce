// The media roles of streams, and what shows that a server manages streams by their roles.
#pragma once

#include <pulse/introspect.h>
#include <pulse/proplist.h>

#include "CPulse.h"

// Returns the role that the property media.role names; CPULSE_ROLE_NONE without the property.
cpulse_role cpulse_read_role(const pa_proplist *properties);
// Returns a number for the entry of the server's database in which it remembers the volume of a
// stream with these properties; 0 if it remembers nothing. Both servers name the entry.
uint32_t cpulse_read_memory(const pa_proplist *properties);
// Whether a module of PulseAudio lowers, mutes or pauses streams because of the roles of others.
bool cpulse_is_role_module(const pa_module_info *module);
// Whether a sink belongs to WirePlumber's policy that links, lowers or pauses streams by roles.
bool cpulse_is_role_sink(const pa_sink_info *sink);
