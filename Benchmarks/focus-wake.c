/* Reports when its process was resumed.
 *
 *   focus-wake PIPE
 *     Reads the clock without pause. A gap of 20 ms or more between two readings is a suspension.
 *     After each gap, writes a line to PIPE: the instant of the first instruction after the gap, in
 *     nanoseconds since boot.
 */
#include "wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define GAP_NS 20000000

int main(int count, char **arguments) {
  if (count != 2) fail_text("usage", "focus-wake PIPE");
  int pipe = open(arguments[1], O_WRONLY | O_CLOEXEC);
  if (pipe < 0) fail(arguments[1]);
  for (uint64_t last = now_ns();;) {
    uint64_t now = now_ns();
    if (now - last >= GAP_NS) {
      char line[32];
      int length = snprintf(line, sizeof line, "%" PRIu64 "\n", now);
      if (write(pipe, line, (size_t)length) != length) return 0;
    }
    last = now;
  }
}
