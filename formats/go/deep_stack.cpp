#include "formats/go/deep_stack.hpp"

#include <pthread.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace formats {
namespace {

constexpr std::size_t segment_bytes = 64u << 20;
constexpr std::size_t margin_bytes = 256u << 10;
constexpr int segment_limit = 16;

thread_local const char* lowest = nullptr;
thread_local int segments = 0;
thread_local std::uint64_t steps_left = ~std::uint64_t{0};

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
  std::uint64_t steps;
};

void* run(void* p) {
  auto* j = static_cast<job*>(p);
  segments = j->depth;
  steps_left = j->steps;
  try {
    (*j->work)();
  } catch (...) {
    j->failure = std::current_exception();
  }
  j->steps = steps_left;
  return nullptr;
}

}  // namespace

walk_limit::walk_limit(std::uint64_t steps) : before_(steps_left) {
  steps_left = steps;
}
walk_limit::~walk_limit() {
  steps_left = before_;
}

void count_steps(std::uint64_t n) {
  if (n > steps_left) {
    steps_left = 0;
    throw std::length_error("the templates walk over too many values");
  }
  steps_left -= n;
}

void check_text(std::size_t bytes) {
  if (bytes > text_bytes_limit)
    throw std::length_error("a value has more than " + std::to_string(text_bytes_limit) +
                            " bytes as text");
}

bool stack_is_roomy() {
  if (!lowest) lowest = find_lowest();
  auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return here - lowest > static_cast<std::ptrdiff_t>(margin_bytes);
}

void on_fresh_stack(const std::function<void()>& work) {
  if (segments >= segment_limit) throw std::length_error("stack overflow");
  job j{&work, nullptr, segments + 1, steps_left};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, segment_bytes);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run, &j);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "start a stack segment");
  pthread_join(thread, nullptr);
  steps_left = j.steps;
  if (j.failure) std::rethrow_exception(j.failure);
}

}  // namespace formats
