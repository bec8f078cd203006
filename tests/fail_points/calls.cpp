// The C library's functions that call the kernel, defined by the program itself: what is linked in
// and the shared objects both come here.
#include "tests/fail_points/calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>

namespace fail_points {
namespace {

constexpr int depth = 6, own_frames = 3;

struct state {
  std::atomic<bool> armed{false};
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  call_plan plan;
  std::uint32_t left = 0;  // how often it still fails
  std::array<descriptor, 65536> kinds{};
  timespec began{};
};
state s;
thread_local bool inside = false;

descriptor kind_of(int fd) {
  return fd >= 0 && fd < static_cast<int>(s.kinds.size()) ? s.kinds[static_cast<std::size_t>(fd)]
                                                          : descriptor::other;
}
int is(int fd, descriptor d) {
  if (fd >= 0 && fd < static_cast<int>(s.kinds.size())) s.kinds[static_cast<std::size_t>(fd)] = d;
  return fd;
}

#if defined(__SANITIZE_ADDRESS__)
/// The sanitizers ask by pipe and write whether memory may be read, and take a failure for "no".
bool by_a_sanitizer(std::span<void* const> callers) {
  return std::ranges::any_of(callers, [](void* at) {
    Dl_info found{};
    return ::dladdr(at, &found) != 0 && found.dli_fname != nullptr &&
           std::strstr(found.dli_fname, "san.so") != nullptr;
  });
}
#else
constexpr bool by_a_sanitizer(std::span<void* const>) {
  return false;
}
#endif

/// The error that this call has to fail with.
std::optional<int> fails(call what, descriptor on) {
  if (!s.armed.load(std::memory_order_relaxed) || inside) return std::nullopt;
  inside = true;
  void* frames[depth + own_frames] = {};
  const int n = ::backtrace(frames, depth + own_frames);
  if (n > own_frames + 1 && by_a_sanitizer({frames + own_frames - 1, 3})) {
    inside = false;
    return std::nullopt;
  }
  std::uint64_t hash = (static_cast<std::uint64_t>(what) << 8) + static_cast<std::uint64_t>(on) + 1;
  for (int i = std::min(own_frames - 1, n); i < n; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 0x9e3779b97f4a7c15;
  while (s.busy.test_and_set(std::memory_order_acquire)) {
  }
  std::optional<int> error;
  call_record& r = *s.plan.record;
  std::uint32_t at = 0;
  while (at < r.used && r.places[at].hash != hash) ++at;
  if (at < call_record::most) {
    call_place& p = r.places[at];
    if (at == r.used) {
      p.hash = hash;
      p.what = what;
      p.on = on;
      p.hits = 0;
      std::copy_n(frames + own_frames - 1, p.stack.size() - 1, p.stack.begin());
      r.used = at + 1;
    }
    ++p.hits;
    if (s.plan.place == hash) {
      ++*s.plan.calls;
      if (p.hits >= s.plan.hit && s.left > 0) {
        --s.left;
        ++*s.plan.fired;
        error = s.plan.with.error;
      }
    }
  }
  s.busy.clear(std::memory_order_release);
  inside = false;
  return error;
}

template <class F>
F* next(const char* function) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, function));
}

constexpr auto brief = [](int error) { return call_failure{error, 1}; };
constexpr call_failure interrupted = brief(EINTR), again = brief(EAGAIN),
                       little = brief(call_failure::short_count);

}  // namespace

std::string_view name(call c) {
  static constexpr std::string_view names[] = {
      "none",        "read",          "receive", "write",          "send",
      "connect",     "accept",        "open",    "open folder",    "stat",
      "socket",      "socket option", "bind",    "listen",         "epoll_create",
      "epoll_ctl",   "epoll_wait",    "eventfd", "timerfd_create", "fcntl or ioctl",
      "getaddrinfo", "getrandom",     "inotify", "pipe",           "start of a thread",
      "fwrite"};
  return names[static_cast<std::size_t>(c)];
}

std::span<const call_failure> failures_of(call what, descriptor on) {
  static constexpr call_failure file_read[] = {interrupted, brief(EIO), little};
  static constexpr call_failure event_read[] = {interrupted, again};
  static constexpr call_failure receive[] = {interrupted,      again,
                                             little,           brief(ECONNRESET),
                                             brief(ETIMEDOUT), brief(call_failure::end_of_stream)};
  static constexpr call_failure file_write[] = {interrupted, brief(ENOSPC), brief(EIO), little};
  static constexpr call_failure send[] = {interrupted,       again,         little, brief(EPIPE),
                                          brief(ECONNRESET), brief(ENOBUFS)};
  static constexpr call_failure connect[] = {
      interrupted, brief(ECONNREFUSED), brief(ETIMEDOUT), {EAGAIN, 3}};
  static constexpr call_failure accept[] = {
      brief(ECONNABORTED), {EMFILE, 30}, {ENOBUFS, 3}, brief(EPERM), {EIO, 3}};
  static constexpr call_failure open[] = {brief(EMFILE), brief(EACCES)};
  static constexpr call_failure folder[] = {brief(EMFILE)};
  static constexpr call_failure stat[] = {brief(EIO)};
  static constexpr call_failure socket[] = {brief(EMFILE), {ENFILE, 5}, brief(EAFNOSUPPORT)};
  static constexpr call_failure option[] = {brief(ENOPROTOOPT)};
  static constexpr call_failure bind[] = {brief(EADDRINUSE), brief(EACCES)};
  static constexpr call_failure listen[] = {brief(EADDRINUSE)};
  static constexpr call_failure out_of_descriptors[] = {brief(EMFILE)};
  static constexpr call_failure control[] = {brief(ENOMEM), brief(ENOSPC)};
  static constexpr call_failure wait[] = {interrupted, {EINTR, 3}};
  static constexpr call_failure flags[] = {brief(ENOMEM)};
  static constexpr call_failure resolve[] = {
      {EAI_AGAIN, 2}, brief(EAI_MEMORY), brief(EAI_FAIL), brief(EAI_SYSTEM)};
  static constexpr call_failure random[] = {interrupted, brief(EIO)};
  static constexpr call_failure watch[] = {brief(EMFILE), brief(ENOSPC)};
  static constexpr call_failure thread[] = {brief(EAGAIN)};
  static constexpr call_failure print[] = {brief(ENOSPC)};
  switch (what) {
    case call::none: return {};
    case call::read:
      if (on == descriptor::event) return event_read;
      if (on == descriptor::socket) return receive;
      return file_read;
    case call::receive: return receive;
    case call::write:
      if (on == descriptor::event) return {};  // an eventfd that is not full takes every count
      if (on == descriptor::socket) return send;
      return file_write;
    case call::send: return send;
    case call::connect: return connect;
    case call::accept: return accept;
    case call::open: return open;
    case call::open_folder: return folder;
    case call::stat: return stat;
    case call::socket: return socket;
    case call::socket_option: return option;
    case call::bind: return bind;
    case call::listen: return listen;
    case call::epoll_create:
    case call::event_descriptor:
    case call::timer_descriptor:
    case call::pipe: return out_of_descriptors;
    case call::epoll_control: return control;
    case call::epoll_wait: return wait;
    case call::descriptor_flags: return flags;
    case call::resolve: return resolve;
    case call::random: return random;
    case call::watch_files: return watch;
    case call::thread: return thread;
    case call::print: return print;
  }
  return {};
}

std::string text(call what, const call_failure& f) {
  std::string out(name(what));
  if (f.error == call_failure::short_count)
    out += " of one byte";
  else if (f.error == call_failure::end_of_stream)
    out += ": end of stream";
  else if (what == call::resolve)
    out += std::string(": ") + ::gai_strerror(f.error);
  else
    out += std::string(": ") + ::strerrorname_np(f.error);
  if (f.times > 1) out += " " + std::to_string(f.times) + " times";
  return out;
}

void arm_calls(const call_plan& plan) {
  void* warm[4];
  (void)::backtrace(warm, 4);
  s.plan = plan;
  s.left = plan.place != 0 ? plan.with.times : 0;
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &s.began);
  for (int fd = 0; fd < 3; ++fd) is(fd, descriptor::file);
  s.armed = true;
}

namespace {

/// -1 with errno; for calls that can do less than was asked, `n` becomes 1.
template <class Count>
std::optional<ssize_t> io_fails(call what, int fd, Count& n) {
  const std::optional<int> error = fails(what, kind_of(fd));
  if (!error) return std::nullopt;
  if (*error == call_failure::short_count) {
    if (n > 1) n = 1;
    return std::nullopt;
  }
  if (*error == call_failure::end_of_stream) return 0;
  errno = *error;
  return -1;
}

bool refuses(call what, descriptor on = descriptor::other) {
  const std::optional<int> error = fails(what, on);
  if (error) errno = *error;
  return error.has_value();
}

/// Of a vector the first byte.
iovec first_of(const iovec* pieces, std::size_t count) {
  iovec one{nullptr, 0};
  for (std::size_t i = 0; i < count && one.iov_len == 0; ++i) one = pieces[i];
  one.iov_len = std::min<std::size_t>(one.iov_len, 1);
  return one;
}

}  // namespace
}  // namespace fail_points

using namespace fail_points;

extern "C" {

ssize_t read(int fd, void* into, size_t n) {
  if (const auto failed = io_fails(call::read, fd, n)) return *failed;
  return ::syscall(SYS_read, fd, into, n);
}
ssize_t readv(int fd, const iovec* pieces, int count) {
  std::size_t n = static_cast<std::size_t>(-1);
  if (const auto failed = io_fails(call::read, fd, n)) return *failed;
  if (n == 1) {
    const iovec one = first_of(pieces, static_cast<std::size_t>(count));
    return ::syscall(SYS_readv, fd, &one, 1);
  }
  return ::syscall(SYS_readv, fd, pieces, count);
}
ssize_t recv(int fd, void* into, size_t n, int flags) {
  if (const auto failed = io_fails(call::receive, fd, n)) return *failed;
  return ::syscall(SYS_recvfrom, fd, into, n, flags, nullptr, nullptr);
}
ssize_t recvmsg(int fd, msghdr* m, int flags) {
  std::size_t n = static_cast<std::size_t>(-1);
  if (const auto failed = io_fails(call::receive, fd, n)) return *failed;
  if (n == 1) {
    iovec one = first_of(m->msg_iov, m->msg_iovlen);
    msghdr less = *m;
    less.msg_iov = &one;
    less.msg_iovlen = 1;
    return ::syscall(SYS_recvmsg, fd, &less, flags);
  }
  return ::syscall(SYS_recvmsg, fd, m, flags);
}
ssize_t write(int fd, const void* from, size_t n) {
  if (const auto failed = io_fails(call::write, fd, n)) return *failed;
  return ::syscall(SYS_write, fd, from, n);
}
ssize_t writev(int fd, const iovec* pieces, int count) {
  std::size_t n = static_cast<std::size_t>(-1);
  if (const auto failed = io_fails(call::write, fd, n)) return *failed;
  if (n == 1) {
    const iovec one = first_of(pieces, static_cast<std::size_t>(count));
    return ::syscall(SYS_writev, fd, &one, 1);
  }
  return ::syscall(SYS_writev, fd, pieces, count);
}
ssize_t send(int fd, const void* from, size_t n, int flags) {
  if (const auto failed = io_fails(call::send, fd, n)) return *failed;
  return ::syscall(SYS_sendto, fd, from, n, flags, nullptr, 0);
}
ssize_t sendmsg(int fd, const msghdr* m, int flags) {
  std::size_t n = static_cast<std::size_t>(-1);
  if (const auto failed = io_fails(call::send, fd, n)) return *failed;
  if (n == 1) {
    iovec one = first_of(m->msg_iov, m->msg_iovlen);
    msghdr less = *m;
    less.msg_iov = &one;
    less.msg_iovlen = 1;
    return ::syscall(SYS_sendmsg, fd, &less, flags);
  }
  return ::syscall(SYS_sendmsg, fd, m, flags);
}
int connect(int fd, const sockaddr* to, socklen_t n) {
  if (refuses(call::connect, kind_of(fd))) return -1;
  return static_cast<int>(::syscall(SYS_connect, fd, to, n));
}
int accept(int fd, sockaddr* from, socklen_t* n) {
  if (refuses(call::accept)) return -1;
  return is(static_cast<int>(::syscall(SYS_accept, fd, from, n)), descriptor::socket);
}
int accept4(int fd, sockaddr* from, socklen_t* n, int flags) {
  if (refuses(call::accept)) return -1;
  return is(static_cast<int>(::syscall(SYS_accept4, fd, from, n, flags)), descriptor::socket);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, unsigned);
  va_end(rest);
  if (refuses(call::open)) return -1;
  return is(static_cast<int>(::syscall(SYS_open, path, flags, mode)), descriptor::file);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, unsigned);
  va_end(rest);
  return ::open(path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, unsigned);
  va_end(rest);
  if (refuses(call::open)) return -1;
  return is(static_cast<int>(::syscall(SYS_openat, at, path, flags, mode)), descriptor::file);
}
int openat64(int at, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, unsigned);
  va_end(rest);
  return ::openat(at, path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (refuses(call::open)) return nullptr;
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  return real(path, mode);
}
FILE* fopen(const char* path, const char* mode) {
  if (refuses(call::open)) return nullptr;
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  return real(path, mode);
}
DIR* opendir(const char* path) {
  if (refuses(call::open_folder)) return nullptr;
  static auto* const real = next<DIR*(const char*)>("opendir");
  return real(path);
}
int stat(const char* path, struct stat* to) {
  if (refuses(call::stat)) return -1;
  return static_cast<int>(::syscall(SYS_stat, path, to));
}
int lstat(const char* path, struct stat* to) {
  if (refuses(call::stat)) return -1;
  return static_cast<int>(::syscall(SYS_lstat, path, to));
}
int fstat(int fd, struct stat* to) {
  if (refuses(call::stat)) return -1;
  return static_cast<int>(::syscall(SYS_fstat, fd, to));
}
int socket(int domain, int type, int protocol) {
  if (refuses(call::socket)) return -1;
  return is(static_cast<int>(::syscall(SYS_socket, domain, type, protocol)), descriptor::socket);
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t n) {
  if (refuses(call::socket_option)) return -1;
  return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, value, n));
}
int bind(int fd, const sockaddr* at, socklen_t n) {
  if (refuses(call::bind)) return -1;
  return static_cast<int>(::syscall(SYS_bind, fd, at, n));
}
int listen(int fd, int backlog) {
  if (refuses(call::listen)) return -1;
  return static_cast<int>(::syscall(SYS_listen, fd, backlog));
}
int epoll_create1(int flags) {
  if (refuses(call::epoll_create)) return -1;
  return static_cast<int>(::syscall(SYS_epoll_create1, flags));
}
int epoll_ctl(int fd, int what, int on, epoll_event* e) {
  // Taking out or changing what is there needs no memory.
  if (what == EPOLL_CTL_ADD && refuses(call::epoll_control, kind_of(on))) return -1;
  return static_cast<int>(::syscall(SYS_epoll_ctl, fd, what, on, e));
}
int epoll_wait(int fd, epoll_event* into, int n, int milliseconds) {
  if (milliseconds != 0 && refuses(call::epoll_wait)) return -1;
  if (s.armed && milliseconds > 0)
    milliseconds = std::max(1, milliseconds / static_cast<int>(s.plan.clock_speed));
  return static_cast<int>(::syscall(SYS_epoll_wait, fd, into, n, milliseconds));
}
int eventfd(unsigned first, int flags) {
  if (refuses(call::event_descriptor)) return -1;
  return is(static_cast<int>(::syscall(SYS_eventfd2, first, flags)), descriptor::event);
}
int timerfd_create(int clock, int flags) {
  if (refuses(call::timer_descriptor)) return -1;
  return is(static_cast<int>(::syscall(SYS_timerfd_create, clock, flags)), descriptor::event);
}
int timerfd_settime(int fd, int flags, const itimerspec* to, itimerspec* before) {
  itimerspec sooner = *to;
  if (s.armed && (flags & TFD_TIMER_ABSTIME) == 0) {
    const std::int64_t all = to->it_value.tv_sec * 1'000'000'000 + to->it_value.tv_nsec;
    const std::int64_t less =
        all == 0 ? 0
                 : std::max<std::int64_t>(1, all / static_cast<std::int64_t>(s.plan.clock_speed));
    sooner.it_value = {less / 1'000'000'000, less % 1'000'000'000};
  }
  return static_cast<int>(::syscall(SYS_timerfd_settime, fd, flags, &sooner, before));
}
int fcntl(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  // Of pipes and files that are ours no kernel refuses it.
  if (kind_of(fd) == descriptor::socket && refuses(call::descriptor_flags, descriptor::socket))
    return -1;
  return static_cast<int>(::syscall(SYS_fcntl, fd, what, argument));
}
int fcntl64(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return ::fcntl(fd, what, argument);
}
int ioctl(int fd, unsigned long what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  if (refuses(call::descriptor_flags, kind_of(fd))) return -1;
  return static_cast<int>(::syscall(SYS_ioctl, fd, what, argument));
}
int getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** found) {
  if (const auto error = fails(call::resolve, descriptor::other)) {
    errno = EMFILE;
    return *error;
  }
  static auto* const real =
      next<int(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo");
  return real(host, port, hints, found);
}
ssize_t getrandom(void* into, size_t n, unsigned flags) {
  if (refuses(call::random)) return -1;
  return ::syscall(SYS_getrandom, into, n, flags);
}
int inotify_init1(int flags) {
  if (refuses(call::watch_files)) return -1;
  return is(static_cast<int>(::syscall(SYS_inotify_init1, flags)), descriptor::event);
}
int inotify_add_watch(int fd, const char* path, std::uint32_t mask) {
  if (refuses(call::watch_files)) return -1;
  return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
}
int pipe(int ends[2]) {
  if (refuses(call::pipe)) return -1;
  const int made = static_cast<int>(::syscall(SYS_pipe2, ends, 0));
  if (made == 0) {
    is(ends[0], descriptor::event);
    is(ends[1], descriptor::event);
  }
  return made;
}
int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  if (const auto error = fails(call::thread, descriptor::other)) return *error;
  static auto* const real =
      next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(made, how, run, with);
}
size_t fwrite(const void* from, size_t size, size_t count, FILE* to) {
  if (s.armed && (to == stderr || to == stdout) && refuses(call::print)) return 0;
  static auto* const real = next<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  return real(from, size, count, to);
}
int clock_gettime(clockid_t which, timespec* to) {
  const long done = ::syscall(SYS_clock_gettime, which, to);
  if (done == 0 && which == CLOCK_MONOTONIC && s.armed && s.plan.clock_speed > 1) {
    const std::int64_t real =
        (to->tv_sec - s.began.tv_sec) * 1'000'000'000 + to->tv_nsec - s.began.tv_nsec;
    const std::int64_t shown =
        real * static_cast<std::int64_t>(s.plan.clock_speed) + s.began.tv_nsec;
    *to = {s.began.tv_sec + shown / 1'000'000'000, shown % 1'000'000'000};
  }
  return static_cast<int>(done);
}
}
