#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

_Static_assert(CLINUX_ROUTES == RTM_GETROUTE, "linux/rtnetlink.h");
_Static_assert(CLINUX_ADDRESSES == RTM_GETADDR, "linux/rtnetlink.h");

static int close_with(int fd, int code) {
  close(fd);
  errno = code;
  return -1;
}

int clinux_clock_watch(void) {
  int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  // The kernel replaces this time with the end of its own range, in the year 2262.
  struct itimerspec never = {.it_value = {.tv_sec = INT64_MAX}};
  if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0) {
    return close_with(fd, errno);
  }
  return fd;
}

int clinux_route_socket(int is_watch) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) {
    return -1;
  }
  struct sockaddr_nl address = {.nl_family = AF_NETLINK};
  if (is_watch) {
    address.nl_groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR
        | RTMGRP_IPV6_ROUTE;
  }
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    return close_with(fd, errno);
  }
  return fd;
}

int clinux_netlink_protocol(int fd, uint32_t *groups) {
  struct sockaddr_nl address;
  socklen_t length = sizeof address;
  int protocol;
  socklen_t size = sizeof protocol;
  if (getsockname(fd, (struct sockaddr *)&address, &length) < 0 ||
      getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) < 0) {
    return -1;
  }
  if (length != sizeof address || address.nl_family != AF_NETLINK) {
    errno = EAFNOSUPPORT;
    return -1;
  }
  *groups = address.nl_groups;
  return protocol;
}

int clinux_route_ask(int fd, uint16_t what, uint8_t family, uint32_t sequence) {
  // For addresses, the kernel expects a struct ifaddrmsg instead of a struct rtmsg. Both begin with
  // the family, and the kernel reads nothing else.
  struct {
    struct nlmsghdr header;
    struct rtmsg body;
  } question = {
      .header =
          {
              .nlmsg_len = sizeof question,
              .nlmsg_type = what,
              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
              .nlmsg_seq = sequence,
          },
      .body = {.rtm_family = family},
  };
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  return (int)sendto(
      fd, &question, sizeof question, MSG_DONTWAIT, (struct sockaddr *)&kernel, sizeof kernel);
}

ssize_t clinux_route_receive(int fd, void *bytes, size_t count) {
  struct sockaddr_nl sender;
  socklen_t length = sizeof sender;
  ssize_t received =
      recvfrom(fd, bytes, count, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
  if (received > 0 && (length != sizeof sender || sender.nl_pid != 0)) {
    return 0;
  }
  return received;
}

int clinux_diagnosis_socket(void) {
  return socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

int clinux_diagnosis_ask(int fd, uint8_t family, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    union {
      struct unix_diag_req local;
      struct inet_diag_req_v2 internet;
    };
  } question = {
      .header =
          {
              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
              .nlmsg_seq = sequence,
          },
  };
  if (family == AF_UNIX) {
    question.header.nlmsg_len = NLMSG_LENGTH(sizeof question.local);
    question.local = (struct unix_diag_req){
        .sdiag_family = AF_UNIX, .udiag_states = 1 << TCP_LISTEN, .udiag_show = UDIAG_SHOW_NAME};
  } else {
    question.header.nlmsg_len = NLMSG_LENGTH(sizeof question.internet);
    question.internet = (struct inet_diag_req_v2){
        .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1 << TCP_LISTEN};
  }
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  return (int)sendto(
      fd, &question, question.header.nlmsg_len, MSG_DONTWAIT, (struct sockaddr *)&kernel,
      sizeof kernel);
}

int clinux_diagnosis_ask_connected(int fd, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    struct unix_diag_req body;
  } question = {
      .header =
          {
              .nlmsg_len = sizeof question,
              .nlmsg_type = SOCK_DIAG_BY_FAMILY,
              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
              .nlmsg_seq = sequence,
          },
      .body =
          {
              .sdiag_family = AF_UNIX,
              .udiag_states = 1 << TCP_ESTABLISHED,
              .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
          },
  };
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  return (int)sendto(
      fd, &question, sizeof question, MSG_DONTWAIT, (struct sockaddr *)&kernel, sizeof kernel);
}
