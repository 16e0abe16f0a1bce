// Virtual time for the libraries of this process. When the program waits, the clock jumps to the
// time for which it waits, so that the real sd-event runs through days in milliseconds.
//
// This library defines the functions of libc that sd-event uses for time, and the linker prefers
// these definitions. Timers and epoll are still those of the kernel.
#pragma once

#include <stdint.h>

// Begins virtual time: sets the clocks to `nanoseconds`. They then advance only while the program
// waits.
void virtual_time_begin(uint64_t nanoseconds);

// Sets the virtual time at which a wait is interrupted, as by a signal.
void virtual_time_interrupt_at(uint64_t nanoseconds);

// Returns to the machine's clocks.
void virtual_time_end(void);

// Returns the current virtual time.
uint64_t virtual_time_now(void);
