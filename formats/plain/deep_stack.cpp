#include "formats/plain/deep_stack.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

namespace formats {
namespace {

constexpr std::size_t segment_bytes = 64u << 20;
constexpr std::size_t margin_bytes = 256u << 10;
constexpr int segment_limit = 16;

thread_local const char* lowest = nullptr;
thread_local int segments = 0;

/// What the limits of this thread have left.
struct share {
  std::uint64_t steps = unbounded;
  std::uint64_t held = 0, most = unbounded;  // bytes
};
thread_local constinit share ours;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > unbounded - b ? unbounded : a + b;
}

const char* find_lowest() {
  pthread_attr_t attributes;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<const char*>(address);
}

struct job {
  const std::function<void()>* work;
  std::exception_ptr failure;
  int depth;
  share of;
};

void* run(void* p) {
  auto* j = static_cast<job*>(p);
  segments = j->depth;
  ours = j->of;
  try {
    (*j->work)();
  } catch (...) {
    j->failure = std::current_exception();
  }
  j->of = ours;
  return nullptr;
}

}  // namespace

work_limit::work_limit(std::uint64_t steps, std::uint64_t bytes)
    : steps_before_(ours.steps), steps_(std::min(ours.steps, steps)), bytes_before_(ours.most) {
  ours.steps = steps_;
  ours.most = std::min(ours.most, sum(ours.held, bytes));
}
work_limit::~work_limit() {
  const std::uint64_t used = steps_ - ours.steps;
  ours.steps = steps_before_ == unbounded ? unbounded : steps_before_ - used;
  ours.most = bytes_before_;
}

unlimited_work::unlimited_work() noexcept
    : steps_before_(ours.steps), held_before_(ours.held), bytes_before_(ours.most) {
  ours = {};
}
unlimited_work::~unlimited_work() {
  ours = {steps_before_, held_before_, bytes_before_};
}

void count_steps(std::uint64_t n) {
  if (ours.steps == unbounded) return;
  if (n > ours.steps) {
    ours.steps = 0;
    throw std::length_error("the templates walk over too many values");
  }
  ours.steps -= n;
}

std::uint64_t steps_left() noexcept {
  return ours.steps;
}

void hold_bytes(std::uint64_t n) {
  if (sum(ours.held, n) > ours.most) throw std::length_error("it takes more memory than it may");
  ours.held = sum(ours.held, n);
}

void let_go(std::uint64_t n) noexcept {
  ours.held -= std::min(ours.held, n);  // what another thread made is given back here, too
}

void check_text(std::size_t bytes) {
  if (bytes > text_bytes_limit)
    throw std::length_error("a value has more than " + std::to_string(text_bytes_limit) +
                            " bytes as text");
  if (sum(ours.held, bytes) > ours.most)
    throw std::length_error("it takes more memory than it may");
}

bool stack_is_roomy() {
  if (!lowest) lowest = find_lowest();
  auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return here - lowest > static_cast<std::ptrdiff_t>(margin_bytes);
}

void on_fresh_stack(const std::function<void()>& work) {
  if (segments >= segment_limit) throw std::length_error("stack overflow");
  job j{&work, nullptr, segments + 1, ours};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, segment_bytes);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run, &j);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::length_error("stack overflow");  // there is no memory for more
  pthread_join(thread, nullptr);
  ours = j.of;
  if (j.failure) std::rethrow_exception(j.failure);
}

}  // namespace formats
