/* Random calls on sockets, pipes and files, valid and invalid. Usage: socket_calls SEED CALLS

   Prints each call with its result and its errno. Each peer is drained at once, so that nothing depends on time: two
   runs with the same arguments print the same, whatever stands between the program and the kernel. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { CLOSED, TCP, TCP6, NEW, NEW6, UDP, UNIX, UDGRAM, PIPE, REGULAR, KINDS };
struct slot {
  enum kind kind;
  int fd, peer;
};

#define SLOTS 16
#define ROOM 8192
static struct slot slots[SLOTS];
static uint64_t state;
static char *room, *end; /* room: ROOM bytes, then a page that nobody may read */
static struct sockaddr_in refused, listening;
static struct sockaddr_in6 refused6, listening6;
static int listener, listener6;
static long call;

static uint64_t draw(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (state >> 11) % below;
}

static void must(int done, const char *what) {
  if (!done) perror(what), exit(3);
}

static long told(const char *name, enum kind kind, long result) {
  int error = errno;
  printf("%ld %s %d %ld %d\n", call, name, (int)kind, result, result < 0 ? error : 0);
  errno = error;
  return result;
}

/* An address in the loopback network; port 0 is chosen by the kernel. */
static int bound(int family, void *address, socklen_t length, int backlog) {
  int fd = socket(family, SOCK_STREAM, 0);
  memset(address, 0, length);
  if (family == AF_INET) ((struct sockaddr_in *)address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (family == AF_INET6) ((struct sockaddr_in6 *)address)->sin6_addr = in6addr_loopback;
  ((struct sockaddr *)address)->sa_family = family;
  must(bind(fd, address, length) == 0, "bind");
  must(getsockname(fd, address, &length) == 0, "getsockname");
  if (backlog) must(listen(fd, backlog) == 0, "listen");
  return fd;
}

static int is_tcp(enum kind kind) { return kind == TCP || kind == TCP6; }
static int is_new(enum kind kind) { return kind == NEW || kind == NEW6; }

static void discard(struct slot *s) {
  if (s->kind != CLOSED) close(s->fd);
  if (s->peer >= 0) close(s->peer);
  *s = (struct slot){CLOSED, draw(2) ? -1 : 9999, -1};
}

static void accept_peer(struct slot *s) {
  struct pollfd ready = {s->kind == NEW6 ? listener6 : listener, POLLIN, 0};
  if (poll(&ready, 1, 500) != 1) {
    told("alone", s->kind, 0);
    discard(s);
    return;
  }
  s->peer = s->kind == NEW6 ? accept4(listener6, NULL, NULL, SOCK_CLOEXEC) : accept(listener, NULL, NULL);
  must(s->peer >= 0, "accept");
  s->kind = s->kind == NEW6 ? TCP6 : TCP;
  int on = 1;
  setsockopt(s->peer, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
  setsockopt(s->fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
}

static void make(struct slot *s) {
  int two[2];
  discard(s);
  s->kind = 1 + draw(KINDS - 1);
  enum kind wanted = s->kind;
  if (is_tcp(s->kind)) s->kind = s->kind == TCP ? NEW : NEW6;
  if (is_new(s->kind)) {
    struct timeval most = {0, 300000}; /* a SYN without an answer must not stop the program */
    s->fd = told("socket", s->kind, socket(s->kind == NEW ? AF_INET : AF_INET6, SOCK_STREAM, 0));
    setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (wanted == s->kind) return;
    if (wanted == TCP) must(connect(s->fd, (void *)&listening, sizeof listening) == 0, "connect");
    if (wanted == TCP6) must(connect(s->fd, (void *)&listening6, sizeof listening6) == 0, "connect");
    accept_peer(s);
  } else if (s->kind == UDP) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof to;
    s->peer = socket(AF_INET, SOCK_DGRAM, 0), s->fd = socket(AF_INET, SOCK_DGRAM, 0);
    must(bind(s->peer, (void *)&to, length) == 0, "bind");
    getsockname(s->peer, (void *)&to, &length);
    must(connect(s->fd, (void *)&to, length) == 0, "connect");
  } else if (s->kind == UNIX || s->kind == UDGRAM) {
    must(socketpair(AF_UNIX, s->kind == UNIX ? SOCK_STREAM : SOCK_DGRAM, 0, two) == 0, "socketpair");
    s->fd = two[0], s->peer = two[1];
  } else if (s->kind == PIPE) {
    must(pipe(two) == 0, "pipe");
    s->fd = two[1], s->peer = two[0];
  } else {
    FILE *file = tmpfile();
    s->fd = dup(fileno(file));
    fclose(file);
  }
}

/* What was sent is taken away; a socket from which it cannot be taken (out of band, reset) is replaced. */
static void drain(struct slot *s, long sent) {
  static char sink[1 << 16];
  if (s->peer < 0 || sent <= 0) return;
  int on = 1;
  if (is_tcp(s->kind)) setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* pushes MSG_MORE */
  if (s->kind == UDP || s->kind == UDGRAM) {
    while (recv(s->peer, sink, sizeof sink, MSG_DONTWAIT) >= 0) continue;
    return;
  }
  for (long left = sent; left > 0;) {
    struct pollfd ready = {s->peer, POLLIN, 0};
    size_t most = left < (long)sizeof sink ? (size_t)left : sizeof sink;
    long got = poll(&ready, 1, 500) == 1 ? recv(s->peer, sink, most, MSG_DONTWAIT) : 0;
    if (got < 0 && errno == ENOTSOCK) got = read(s->peer, sink, most);
    if (got <= 0) {
      told("ended", s->kind, 0);
      discard(s);
      return;
    }
    left -= got;
  }
}

static const void *data(size_t *bytes) {
  switch (draw(12)) {
  case 0: *bytes = draw(2) ? 100 : 8UL << 30; return NULL;
  case 1: *bytes = draw(ROOM); return (void *)8;
  case 2: *bytes = 1 + draw(100); return end;
  case 3: *bytes = ROOM; return end - 1 - draw(ROOM / 2); /* the end is missing */
  case 4: *bytes = 0; return draw(2) ? NULL : room;
  default: *bytes = 1 + draw(draw(2) ? 64 : ROOM); return room;
  }
}

static const struct iovec *buffers(long *count) {
  static struct iovec list[40];
  for (int i = 0; i < 40; i++) {
    size_t bytes = 1 + draw(100);
    list[i] = (struct iovec){room, bytes};
    if (draw(50) == 0) list[i].iov_base = (void *)data(&bytes), list[i].iov_len = bytes % ROOM;
    if (draw(400) == 0) list[i].iov_len = (size_t)-1;
  }
  *count = draw(20) ? (long)draw(41) : (long)(draw(2) ? 2000 : -1);
  struct iovec *last = (struct iovec *)end - 2;
  last[0] = last[1] = list[0];
  switch (draw(15)) {
  case 0: return NULL;
  case 1: return (void *)16;
  case 2: *count = 2 + draw(3); return last;
  case 3: return (void *)end;
  default: return list;
  }
}

static int flags(void) {
  static const int some[] = {0, 0, 0, MSG_DONTWAIT, MSG_OOB, MSG_MORE, MSG_FASTOPEN, MSG_EOR, MSG_CONFIRM, 1 << 30};
  return MSG_NOSIGNAL | some[draw(sizeof some / sizeof *some)];
}

/* Where to connect to; a peer is accepted if that succeeds. */
static const void *address(enum kind kind, socklen_t *length) {
  static struct sockaddr_in6 mapped;
  static struct sockaddr unspecified;
  int six = kind == NEW6 || kind == TCP6;
  *length = six ? sizeof listening6 : sizeof listening;
  switch (draw(10)) {
  case 0: return NULL;
  case 1: return (void *)24;
  case 2: return end - 4;
  case 3: *length = draw(4) ? draw(8) : (socklen_t)-1; return six ? (void *)&listening6 : (void *)&listening;
  case 4: *length = sizeof unspecified; return &unspecified;
  case 5:
    mapped = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = refused.sin_port};
    mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
    memcpy(mapped.sin6_addr.s6_addr + 12, &refused.sin_addr, 4);
    *length = sizeof mapped;
    return &mapped;
  case 6: case 7: return six ? (void *)&refused6 : (void *)&refused;
  default: return six ? (void *)&listening6 : (void *)&listening;
  }
}

static int reaches(enum kind kind, const void *to) {
  return is_new(kind) && (to == &listening || to == &listening6);
}

static void connects(struct slot *s) {
  socklen_t length;
  const void *to = address(s->kind, &length);
  if (s->kind == UDP || s->kind == UDGRAM) return; /* another peer */
  int later = draw(3) == 0 && is_new(s->kind), error = 0;
  if (later) fcntl(s->fd, F_SETFL, O_NONBLOCK);
  if (is_new(s->kind) && draw(4) == 0) {
    int on = 1;
    told("fastopen", s->kind, setsockopt(s->fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on));
  }
  long done = told("connect", s->kind, connect(s->fd, to, length));
  if (done < 0 && errno == EINPROGRESS) {
    struct pollfd ready = {s->fd, POLLOUT, 0};
    poll(&ready, 1, 300);
    length = sizeof error;
    getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    told("later", s->kind, error);
    done = error ? -1 : 0;
  }
  if (later) fcntl(s->fd, F_SETFL, 0);
  if (done == 0 && is_new(s->kind)) {
    /* With fast open the first byte connects. */
    struct pollfd ready = {s->kind == NEW6 ? listener6 : listener, POLLIN, 0};
    if (reaches(s->kind, to) && poll(&ready, 1, 0) == 0) {
      long sent = told("first", s->kind, write(s->fd, "x", 1));
      accept_peer(s);
      drain(s, sent);
    } else if (reaches(s->kind, to)) {
      accept_peer(s);
    } else {
      discard(s);
    }
  } else if (done == 0 && is_tcp(s->kind)) {
    discard(s); /* AF_UNSPEC ended the connection */
  }
}

static void sends(struct slot *s) {
  size_t bytes;
  long count, sent;
  const void *from = data(&bytes);
  const struct iovec *list = buffers(&count);
  struct msghdr message = {.msg_iov = (void *)list, .msg_iovlen = count}, *it = &message;
  socklen_t length = 0;
  int how = flags();
  if (s->kind == UNIX) how &= ~MSG_OOB; /* there, the byte does not come in order */
  int open = how & MSG_FASTOPEN;
  const void *to = open || draw(8) == 0 ? address(s->kind, &length) : NULL;
  if (!open && (s->kind == UDP || s->kind == UDGRAM)) to = NULL;
  if (open && to == NULL && length) to = (void *)24;
  switch (draw(7)) {
  case 0: sent = told("write", s->kind, write(s->fd, from, bytes)); break;
  case 1: sent = told("writev", s->kind, writev(s->fd, list, count)); break;
  case 2: sent = told("send", s->kind, send(s->fd, from, bytes, how & ~MSG_FASTOPEN)), to = NULL; break;
  case 3: case 4: sent = told("sendto", s->kind, sendto(s->fd, from, bytes, how, to, length)); break;
  default:
    message.msg_name = (void *)to, message.msg_namelen = length;
    if (draw(12) == 0) it = draw(2) ? NULL : (void *)(end - 8);
    sent = told("sendmsg", s->kind, sendmsg(s->fd, it, how));
  }
  if (is_new(s->kind) && sent > 0) {
    accept_peer(s);
  } else if (is_new(s->kind) && sent < 0 && errno != EPIPE && errno != EFAULT) {
    /* A fast open that failed midway may have connected. */
    struct pollfd ready = {s->kind == NEW6 ? listener6 : listener, POLLIN, 0};
    if (open && poll(&ready, 1, 0) == 1) accept_peer(s);
    discard(s);
  }
  if (is_new(s->kind) && open && sent < 0 && errno == EFAULT) {
    struct pollfd ready = {s->kind == NEW6 ? listener6 : listener, POLLIN, 0};
    if (poll(&ready, 1, 0) == 1) accept_peer(s);
    discard(s);
  }
  drain(s, sent);
}

/* Until the buffers are full; how much that is depends on time. */
static void fills(struct slot *s) {
  if (!is_tcp(s->kind) && s->kind != UNIX && s->kind != PIPE) return;
  long all = 0, sent;
  fcntl(s->fd, F_SETFL, O_NONBLOCK);
  while ((sent = write(s->fd, room, ROOM)) > 0) all += sent;
  told("full", s->kind, sent);
  fcntl(s->fd, F_SETFL, 0);
  drain(s, all);
}

/* A child that may only read, write and end. */
static void confined(struct slot *s) {
  int way = draw(3);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (way == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (way == 1) syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    if (way == 2) syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    long sent = write(s->fd, room, 10);
    syscall(SYS_exit, sent < 0 ? 20 : (int)sent);
  }
  int status;
  must(waitpid(child, &status, 0) == child, "waitpid");
  told("confined", s->kind, status);
  drain(s, WIFEXITED(status) && WEXITSTATUS(status) <= 10 ? WEXITSTATUS(status) : 0);
}

static void duplicates(struct slot *s) {
  if (s->kind == CLOSED) return;
  int old = s->fd;
  switch (draw(4)) {
  case 0: s->fd = dup(old); break;
  case 1: s->fd = fcntl(old, F_DUPFD_CLOEXEC, 50 + draw(20)); break;
  case 2: s->fd = dup2(old, 90 + draw(20)); break;
  default: s->fd = dup3(old, 120 + draw(20), O_CLOEXEC);
  }
  told("dup", s->kind, s->fd);
  close(old);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  state = 0x9e3779b97f4a7c15 ^ strtoull(arguments[1], NULL, 10) << 20;
  signal(SIGPIPE, SIG_IGN);
  room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(room != MAP_FAILED, "mmap");
  end = room + ROOM;
  must(mprotect(end, 4096, PROT_NONE) == 0, "mprotect");
  bound(AF_INET, &refused, sizeof refused, 0), bound(AF_INET6, &refused6, sizeof refused6, 0);
  listener = bound(AF_INET, &listening, sizeof listening, 9);
  listener6 = bound(AF_INET6, &listening6, sizeof listening6, 9);
  for (int i = 0; i < SLOTS; i++) slots[i] = (struct slot){CLOSED, -1, -1};
  for (long calls = strtol(arguments[2], NULL, 10); call < calls; call++) {
    struct slot *s = &slots[draw(SLOTS)];
    uint64_t what = draw(1000);
    if (what < 60) make(s);
    else if (what < 160) connects(s);
    else if (what < 200) duplicates(s);
    else if (what < 204) fills(s);
    else if (what < 208) confined(s);
    else sends(s);
  }
  return 0;
}
