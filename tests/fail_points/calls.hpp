#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fail_points {

enum class call : std::uint8_t {
  none,
  read,  // and readv
  receive,
  write,  // and writev
  send,
  connect,
  accept,
  open,
  open_folder,
  stat,
  socket,
  socket_option,
  bind,
  listen,
  epoll_create,
  epoll_control,
  epoll_wait,
  event_descriptor,
  timer_descriptor,
  descriptor_flags,  // fcntl, ioctl
  resolve,
  random,
  watch_files,  // inotify
  pipe,
  thread,
  print,  // fwrite
};
std::string_view name(call c);

/// What a descriptor is, since each kind fails in its own ways.
enum class descriptor : std::uint8_t { other, file, socket, event };

/// A place in the program that calls: the functions on its stack.
struct call_place {
  std::uint64_t hash = 0;
  call what = call::none;
  descriptor on = descriptor::other;
  std::uint32_t hits = 0;
  std::array<void*, 8> stack{};
};
/// Lives in memory that processes share.
struct call_record {
  static constexpr std::size_t most = 1024;
  std::atomic<std::uint32_t> used{0};
  std::array<call_place, most> places;
};

struct call_failure {
  static constexpr int short_count = -1, end_of_stream = -2;
  int error = 0;            // of errno, of getaddrinfo for resolve, or one of the above
  std::uint32_t times = 1;  // in a row, at this place
};

struct call_plan {
  std::uint64_t place = 0;  // 0 = none: only record
  std::uint32_t hit = 0;
  call_failure with;
  unsigned clock_speed = 1;  // the steady clock and timers run so many times faster
  call_record* record = nullptr;
  std::atomic<std::uint32_t>* fired = nullptr;
  std::atomic<std::uint32_t>* calls = nullptr;  // how often the place called at all
};

/// From now on the system calls of this process are counted, and fail by the plan.
void arm_calls(const call_plan& plan);
/// How a call may fail, as the manual pages have it.
std::span<const call_failure> failures_of(call what, descriptor on);
std::string text(call what, const call_failure& f);

}  // namespace fail_points
