// Measures how late a process wakes. The process must run each millisecond, while busy processes
// compete with it.
//
//   lateness spin                         a busy process: uses a CPU without end
//   lateness periodic SECONDS WORK FILE   the measured process: works for WORK µs of CPU time in
//                                         each millisecond, and writes the p50, p99 and maximum of
//                                         its lateness in µs to FILE

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERIOD = 1000000, SECOND = 1000000000, MICROSECOND = 1000 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static int64_t used(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static int by_value(const void *one, const void *other) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
  return (a > b) - (a < b);
}

static int measure(int seconds, int work, const char *path) {
  size_t count = (size_t)seconds * 1000;
  int64_t *late = calloc(count, sizeof *late);
  if (!late) return 1;
  int64_t due = now();
  for (size_t index = 0; index < count; index++) {
    due += PERIOD;
    struct timespec until = {.tv_sec = due / SECOND, .tv_nsec = due % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
    late[index] = now() - due;
    // Measures CPU time, so that an interruption does not shorten the work.
    for (int64_t end = used() + (int64_t)work * MICROSECOND; used() < end;) {}
    // After a delay of more than one period, skips the missed periods, as an audio player does.
    if (now() > due + PERIOD) due = now();
  }
  qsort(late, count, sizeof *late, by_value);
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  fprintf(file, "%.1f %.1f %.1f\n", (double)late[count / 2] / 1000,
          (double)late[count * 99 / 100] / 1000, (double)late[count - 1] / 1000);
  return fclose(file) != 0;
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "spin") == 0)
    for (volatile uint64_t turns = 0;; turns++) {}
  if (count == 5 && strcmp(words[1], "periodic") == 0)
    return measure(atoi(words[2]), atoi(words[3]), words[4]);
  fprintf(stderr, "usage: lateness spin | lateness periodic SECONDS MICROSECONDS FILE\n");
  return 2;
}
