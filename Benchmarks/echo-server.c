/* A minimal server with epoll: reads a request up to its NUL, and sends a fixed reply.
 *
 *   echo-server SOCKET REPLY
 */
#include "wire.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void watch(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

int main(int count, char **arguments) {
  if (count != 3) fail_text("usage", "echo-server SOCKET REPLY");
  const char *reply = arguments[2];
  size_t reply_length = strlen(reply) + 1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(arguments[1]) >= sizeof address.sun_path) fail_text(arguments[1], "too long");
  strcpy(address.sun_path, arguments[1]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0
      || listen(listener, 16) != 0)
    fail(arguments[1]);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, listener);
  for (;;) {
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, -1) != 1) fail("epoll_wait");
    if (event.data.fd == listener) {
      watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
      continue;
    }
    char bytes[4096];
    ssize_t received = recv(event.data.fd, bytes, sizeof bytes, 0);
    if (received <= 0) {
      close(event.data.fd);
      continue;
    }
    /* The client sends one complete request at a time. */
    if (!memchr(bytes, 0, (size_t)received)) fail_text("request", "no terminating NUL");
    if (send(event.data.fd, reply, reply_length, MSG_NOSIGNAL) != (ssize_t)reply_length)
      fail("send");
  }
}
