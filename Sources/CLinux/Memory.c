#define _GNU_SOURCE
#include "CLinux.h"
#include "Thread.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Older kernel headers lack these numbers.
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#define CLINUX_MADV_PAGEOUT 21

ssize_t clinux_page_out(int pidfd, const struct iovec *ranges, size_t count) {
  return syscall(SYS_process_madvise, pidfd, ranges, count, CLINUX_MADV_PAGEOUT, 0);
}

void clinux_trim_heap(void) { malloc_trim(0); }

void clinux_return_blocks(size_t bytes) {
  mallopt(M_MMAP_THRESHOLD, (int)bytes);
  mallopt(M_TRIM_THRESHOLD, (int)bytes);
}

// MARK: freeing

struct release {
  size_t count;
  int pidfds[];
};

static void *release_here(void *argument) {
  struct release *release = argument;
  for (size_t i = 0; i < release->count; i++) {
    // EINVAL: the process is not ending, or another process shares its memory. ESRCH: the process
    // does not exist. In these cases, there is nothing to free.
    syscall(SYS_process_mrelease, release->pidfds[i], 0);
    close(release->pidfds[i]);
  }
  free(release);
  return NULL;
}

void clinux_release_memory_elsewhere(const int *pidfds, size_t count) {
  struct release *release = malloc(sizeof *release + count * sizeof *pidfds);
  if (release != NULL) {
    release->count = count;
    memcpy(release->pidfds, pidfds, count * sizeof *pidfds);
    if (clinux_start_thread(release_here, release) == 0) {
      return;
    }
    free(release);
  }
  for (size_t i = 0; i < count; i++) {
    close(pidfds[i]);
  }
}

// MARK: measuring

struct measure {
  int proc_root;
  int fd;
  size_t count;
  uint64_t *bounds;
  struct clinux_measured processes[];
};

/// Reads a small file of a process and appends a NUL. Returns the length, or -1 and errno.
static ssize_t contents(int proc_root, pid_t pid, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "%d/%s", (int)pid, name);
  int file = openat(proc_root, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return -1;
  }
  ssize_t length = 0, got;
  while ((got = read(file, text + length, size - 1 - (size_t)length)) != 0) {
    if (got > 0) {
      length += got;
    } else if (errno != EINTR) {
      int code = errno;
      close(file);
      errno = code;
      return -1;
    }
  }
  close(file);
  text[length] = '\0';
  return length;
}

/// Returns the bytes of a line `Key: N kB`; 0 if there is none.
static uint64_t field(const char *text, const char *key) {
  const char *line = strstr(text, key);
  return line == NULL ? 0 : strtoull(line + strlen(key), NULL, 10) * 1024;
}

static uint64_t start_time(const char *stat) {
  // The name in parentheses may contain any character, so the fields are counted from the last ')'.
  // The first of them, the state, is field 3.
  const char *place = strrchr(stat, ')');
  for (int number = 3; place != NULL && number <= 22; number++) {
    place = strchr(place + 1, ' ');
  }
  return place == NULL ? 0 : strtoull(place, NULL, 10);
}

static void read_one(int proc_root, const struct clinux_measured *process,
                     struct clinux_rollup *rollup) {
  char text[4096];
  if (contents(proc_root, process->pid, "smaps_rollup", text, sizeof text) < 0) {
    rollup->error = errno == ENOENT ? ESRCH : errno;
    return;
  }
  // With the line break, a key does not match the end of a longer key.
  rollup->private_dirty = field(text, "\nPrivate_Dirty:");
  rollup->swapped = field(text, "\nSwapPss:");
  rollup->proportional = field(text, "\nPss:");
  // If the pid now has another start time, the values above may belong to another process.
  if (contents(proc_root, process->pid, "stat", text, sizeof text) < 0
      || start_time(text) != process->start_time) {
    *rollup = (struct clinux_rollup){.index = rollup->index, .error = ESRCH};
  }
}

static int tell(int fd, const struct clinux_rollup *rollup) {
  // The size is less than PIPE_BUF, so the kernel does not split the write.
  ssize_t result;
  do {
    result = write(fd, rollup, sizeof *rollup);
  } while (result < 0 && errno == EINTR);
  return result == (ssize_t)sizeof *rollup;
}

static void *measure_here(void *argument) {
  struct measure *measure = argument;
  uint64_t most = 0, dirty = 0;
  for (size_t i = 0; i < measure->count; i++) {
    const struct clinux_measured *process = &measure->processes[i];
    if (i == 0 || measure->processes[i - 1].group != process->group) {
      most = dirty > most ? dirty : most;
      dirty = 0;
      // The groups are in the order of their bounds, the largest first, so no remaining group can
      // have more than `most`.
      if (measure->bounds[process->group] <= most) {
        break;
      }
    }
    struct clinux_rollup rollup = {.index = (uint32_t)i};
    read_one(measure->proc_root, process, &rollup);
    dirty += rollup.private_dirty + rollup.swapped;
    // If the write fails, the reader has closed its end of the pipe.
    if (!tell(measure->fd, &rollup)) {
      break;
    }
  }
  close(measure->fd);
  close(measure->proc_root);
  free(measure->bounds);
  free(measure);
  return NULL;
}

int clinux_measure_elsewhere(
    int proc_root, const struct clinux_measured *processes, size_t count, const uint64_t *bounds,
    size_t groups_count, int fd) {
  struct measure *measure = malloc(sizeof *measure + count * sizeof *processes);
  uint64_t *copy = malloc((groups_count + 1) * sizeof *bounds);
  int result = ENOMEM;
  if (measure != NULL && copy != NULL) {
    *measure = (struct measure){.proc_root = proc_root, .fd = fd, .count = count, .bounds = copy};
    memcpy(measure->processes, processes, count * sizeof *processes);
    memcpy(copy, bounds, groups_count * sizeof *bounds);
    result = clinux_start_thread(measure_here, measure);
  }
  if (result == 0) {
    return 0;
  }
  free(measure);
  free(copy);
  errno = result;
  return -1;
}
