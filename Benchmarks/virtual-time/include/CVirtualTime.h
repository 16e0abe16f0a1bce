// Virtual time for the libraries of this process, so that the real sd-event can run through days in
// milliseconds: the clock jumps to the next time that the program waits for.
//
// This library redefines the libc functions that sd-event uses for time, and the linker prefers
// these definitions. Timers and epoll are the kernel's own.
#pragma once

#include <stdint.h>

// Sets the clocks to `nanoseconds`. From now on they advance only while the program waits.
void virtual_time_begin(uint64_t nanoseconds);

// Interrupts a wait at this time, as a signal would.
void virtual_time_interrupt_at(uint64_t nanoseconds);

// Returns to the machine's clocks.
void virtual_time_end(void);

// Returns the current virtual time.
uint64_t virtual_time_now(void);
