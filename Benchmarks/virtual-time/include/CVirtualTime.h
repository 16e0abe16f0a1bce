// A time of its own for the libraries of this process, so that the real sd-event can live through
// days in milliseconds: the clock jumps to whatever is waited for.
//
// The functions of libc that sd-event uses for time are defined here over again, and the linker
// prefers the program's. Timers and epoll stay the kernel's own.
#pragma once

#include <stdint.h>

// Clocks stand at `nanoseconds` from now on, and advance only when the program waits.
void virtual_time_begin(uint64_t nanoseconds);

// A wait does not go on past this time: it is interrupted then, as by a signal.
void virtual_time_interrupt_at(uint64_t nanoseconds);

// Clocks are the machine's again.
void virtual_time_end(void);

// What the clocks show.
uint64_t virtual_time_now(void);
