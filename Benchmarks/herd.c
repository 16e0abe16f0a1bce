/* Runs many registered applications, each in a small process with one background task.
 *
 *   herd SOCKET [idle]
 *
 * With "idle", the applications have no task, so that the daemon suspends them.
 *
 * For each line "N" on standard input, the program forks until N processes run. The new processes
 * start to register at the same time. When all have acknowledged their callbacks, the program
 * prints "N REGISTERED-NS READY-NS", the times from this start in nanoseconds: until the last
 * process was registered, and until the last process had begun its task and acknowledged. At the
 * end of its input, the program ends all processes.
 */
#include "wire.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *socket_path;
static bool idle;

/* Reports a step to the parent as one byte. */
static void tell(int news, char what) {
  if (write(news, &what, 1) != 1) fail("reporting to the parent");
}

/* Runs one application. Never returns. */
static _Noreturn void live(int number, int start, int news) {
  char byte, id[64];
  snprintf(id, sizeof id, "org.example.herd.member%d", number);
  tell(news, 'f');
  if (read(start, &byte, 1) != 0) fail("waiting for the start");
  struct application application;
  application_register(&application, socket_path, id, true);
  tell(news, 'r');
  /* Reports before the acknowledgement, after which the daemon suspends an idle application. */
  if (idle) tell(news, 'a');
  else application_begin(&application);
  application_acknowledge(&application);
  if (!idle) tell(news, 'a');
  channel_receive(&application.events);
  fail_text(id, "received an unexpected message");
}

/* Waits until `count` processes have reported the step `what`. `seen` has the number of reports of
 * each step, because reports of later steps may arrive in between. */
static void collect(int news, size_t *seen, char what, size_t count) {
  while (seen[(unsigned char)what] < count) {
    struct pollfd wait = {.fd = news, .events = POLLIN};
    if (poll(&wait, 1, 60000) != 1) fail_text("herd", "no report within 60 s");
    char bytes[4096];
    ssize_t got = read(news, bytes, sizeof bytes);
    if (got <= 0) fail("reading the reports");
    for (ssize_t index = 0; index < got; index++) seen[(unsigned char)bytes[index]]++;
  }
}

static void grow(size_t from, size_t to) {
  int start[2], news[2];
  if (pipe(start) != 0 || pipe(news) != 0) fail("pipe");
  for (size_t number = from; number < to; number++) {
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(start[1]);
      close(news[0]);
      live((int)number, start[0], news[1]);
    }
  }
  close(start[0]);
  close(news[1]);
  size_t seen[256] = {0}, count = to - from;
  collect(news[0], seen, 'f', count);
  uint64_t begin = now_ns();
  close(start[1]);
  collect(news[0], seen, 'r', count);
  uint64_t registered = now_ns() - begin;
  collect(news[0], seen, 'a', count);
  uint64_t ready = now_ns() - begin;
  close(news[0]);
  printf("%zu %" PRIu64 " %" PRIu64 "\n", to, registered, ready);
  fflush(stdout);
}

int main(int count, char **arguments) {
  idle = count == 3 && strcmp(arguments[2], "idle") == 0;
  if (count != 2 && !idle) fail_text("usage", "herd SOCKET [idle]");
  socket_path = arguments[1];
  char line[64];
  size_t size = 0;
  while (fgets(line, sizeof line, stdin)) {
    size_t next = (size_t)strtoul(line, NULL, 10);
    if (next < size) fail_text(line, "the number of processes may only grow");
    grow(size, next);
    size = next;
  }
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
  /* Suspended processes receive SIGTERM only when they continue. */
  kill(0, SIGCONT);
  while (wait(NULL) > 0) {}
  return 0;
}
