// libpulse's interface to an event loop (pulse/mainloop-api.h), on sd-event.
#pragma once

#include <pulse/mainloop-api.h>
#include <systemd/sd-event.h>

// Returns an interface whose sources belong to the event loop. The loop must outlive them.
pa_mainloop_api cpulse_loop_api(sd_event *event);
