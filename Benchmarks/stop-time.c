/* Measures how long the processes of an application run after the application has ended its last
 * task.
 *
 *   stop-time member COUNT RENDEZVOUS
 *     The application, with COUNT processes including the leader. It registers and begins a task.
 *     Then it connects to the socket RENDEZVOUS, sends the pids of its processes, and ends the task
 *     on request.
 *   stop-time observe RENDEZVOUS MOUNT
 *     The observer. It listens at RENDEZVOUS, prints "ready", and reads the path of the daemon's
 *     socket from standard input. Then it waits for one application, and requests the end of its
 *     task. It prints "PROCESSES ALL-STOPPED-NS REPORTED-NS": the number of processes, and two
 *     times from the call that ends the task. The first ends when the kernel has stopped all
 *     processes, the second when the daemon reports the suspension to its monitors. MOUNT is the
 *     mount point of cgroup v2: the observer then reads the state of the application's cgroup. If
 *     MOUNT is empty, it reads the state of each process.
 */
#include "wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEMBERS_MAX 1024
#define LIMIT_NS 10000000000

struct roll {
  int32_t count;
  int32_t pids[MEMBERS_MAX];
};

static void write_whole(int fd, const void *bytes, size_t count) {
  if (write(fd, bytes, count) != (ssize_t)count) fail("writing to the rendezvous");
}

static void read_whole(int fd, void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t got = read(fd, (char *)bytes + done, count - done);
    if (got <= 0) fail("reading from the rendezvous");
    done += (size_t)got;
  }
}

static void be_member(int count, const char *rendezvous) {
  struct roll roll = {.count = count};
  if (count < 1 || count > MEMBERS_MAX) fail_text("member", "the count is out of bounds");
  /* Ends with its parent, the daemon, even if a signal kills the daemon. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct application application;
  application_register(
    &application, getenv("TASKSCHEDD_SOCKET"), getenv("TASKSCHEDD_APPLICATION"), true);
  int64_t task = application_begin(&application);
  application_acknowledge(&application);
  roll.pids[0] = getpid();
  for (int index = 1; index < count; index++) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    roll.pids[index] = child;
  }
  int fd = connect_unix(rendezvous);
  write_whole(fd, &roll, sizeof roll);
  char byte;
  read_whole(fd, &byte, 1);
  char parameters[64];
  snprintf(parameters, sizeof parameters, "{\"task\":%" PRId64 "}", task);
  uint64_t start = now_ns();
  write_whole(fd, &start, sizeof start);
  call(&application.calls, "EndBackgroundTask", parameters);
  for (;;) pause();
}

static char state_of(int32_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path);
  ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) fail(path);
  text[count] = 0;
  char *end = strrchr(text, ')');
  if (!end) fail_text(path, text);
  return end[2];
}

/* Waits until all processes are stopped, one after the other, because stopped ones stay stopped.
 * Returns the instant. */
static uint64_t wait_for_processes(const struct roll *roll) {
  uint64_t limit = now_ns() + LIMIT_NS;
  for (int32_t index = 0; index < roll->count; index++)
    while (state_of(roll->pids[index]) != 'T') {
      if (now_ns() > limit) fail_text("stop-time", "a process was not stopped within 10 s");
      sched_yield();
    }
  return now_ns();
}

static int open_group_events(int32_t pid, const char *mount) {
  char path[512], line[256];
  snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
  FILE *file = fopen(path, "re");
  if (!file) fail(path);
  path[0] = 0;
  while (fgets(line, sizeof line, file))
    if (strncmp(line, "0::", 3) == 0) {
      line[strcspn(line, "\n")] = 0;
      snprintf(path, sizeof path, "%s%s/cgroup.events", mount, line + 3);
    }
  fclose(file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path);
  return fd;
}

/* Waits until the cgroup is frozen, and returns the instant. Reads cgroup.events without pause,
 * because the kernel may report a change up to 10 ms late. */
static uint64_t wait_for_group(int events) {
  uint64_t limit = now_ns() + LIMIT_NS;
  for (;;) {
    char text[128];
    ssize_t count = pread(events, text, sizeof text - 1, 0);
    if (count <= 0) fail("cgroup.events");
    text[count] = 0;
    if (strstr(text, "frozen 1")) return now_ns();
    if (now_ns() > limit) fail_text("stop-time", "the cgroup was not frozen within 10 s");
    sched_yield();
  }
}

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) fail_text(path, "too long for a socket");
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0)
    fail(path);
  return fd;
}

/* Waits until the daemon reports the suspension. Returns the instant, which the daemon measures by
 * the clock of now_ns(). */
static uint64_t reported(struct channel *monitor) {
  for (;;) {
    const char *message = channel_receive(monitor);
    if (strstr(message, "\"to\":\"suspended\""))
      return (uint64_t)integer_after(message, "atUSec") * 1000;
  }
}

static void observe(const char *rendezvous, const char *mount) {
  int listener = listen_at(rendezvous);
  puts("ready");
  fflush(stdout);
  char path[256];
  if (!fgets(path, sizeof path, stdin)) fail_text("observe", "the socket's path is missing");
  path[strcspn(path, "\n")] = 0;
  struct channel monitor;
  channel_open(&monitor, path);
  channel_send(&monitor, "{\"method\":\"org.taskschedd.Control.Monitor\",\"more\":true}");
  while (!strstr(channel_receive(&monitor), "\"ready\"")) {}
  puts("ready");
  fflush(stdout);
  int member = accept(listener, NULL, NULL);
  struct roll roll;
  uint64_t start;
  read_whole(member, &roll, sizeof roll);
  int events = *mount ? open_group_events(roll.pids[0], mount) : -1;
  write_whole(member, "", 1);
  read_whole(member, &start, sizeof start);
  uint64_t stopped = events >= 0 ? wait_for_group(events) : wait_for_processes(&roll);
  printf("%d %" PRIu64 " %" PRIu64 "\n", roll.count, stopped - start, reported(&monitor) - start);
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[1], "member") == 0)
    be_member(atoi(arguments[2]), arguments[3]);
  else if (count == 4 && strcmp(arguments[1], "observe") == 0)
    observe(arguments[2], arguments[3]);
  else
    fail_text("usage", "stop-time member COUNT RENDEZVOUS | observe RENDEZVOUS MOUNT");
  return 0;
}
