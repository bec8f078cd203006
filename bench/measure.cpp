#include "bench/measure.hpp"

#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <boost/json.hpp>
#include <boost/version.hpp>
#include <malloc.h>
#include <openssl/crypto.h>
#include <sched.h>
#include <simdjson.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

/// jemalloc's, where it is linked in: as shipped.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* now, size_t now_size)
    __attribute__((weak));

namespace bench {
namespace {

using namespace std::chrono_literals;

reactor::nanoseconds clock_of(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::size_t figure_of_jemalloc(const char* name) {
  std::uint64_t epoch = 1;
  std::size_t size = sizeof epoch, figure = 0;
  (void)mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  (void)mallctl("epoch", &epoch, &size, &epoch, size);
  size = sizeof figure;
  (void)mallctl(name, &figure, &size, nullptr, 0);
  return figure;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

reactor::nanoseconds process_cpu() {
  return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}
reactor::nanoseconds monotonic() {
  return clock_of(CLOCK_MONOTONIC);
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t heap_bytes() {
  if (&mallctl) return figure_of_jemalloc("stats.allocated");
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void trim_heap() {
  if (&mallctl)
    (void)mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all of them
  else
    malloc_trim(0);
}

std::size_t trimmed_bytes() {
  const std::size_t now = resident_bytes();
  if (!&mallctl) return now;
  const std::size_t free = figure_of_jemalloc("stats.arenas.4096.pdirty") *
                           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return now > free ? now - free : 0;
}

boost::json::object environment() {
  utsname name{};
  uname(&name);
  boost::json::object o;
  o["machine"] = processor_name();
  o["cores"] = std::thread::hardware_concurrency();
  o["system"] = std::string(name.sysname) + " " + name.release;
#ifdef __clang__
  o["compiler"] = "clang " __clang_version__;
#else
  o["compiler"] = "gcc " __VERSION__;
#endif
#ifdef NDEBUG
  o["build"] = "release";
#else
  o["build"] = "debug: figures mean nothing";
#endif
  o["boost"] = BOOST_LIB_VERSION;
  o["simdjson"] = SIMDJSON_STRINGIFY(SIMDJSON_VERSION);
  o["openssl"] = OpenSSL_version(OPENSSL_VERSION_STRING);
  return o;
}

void stalls::add(const reactor::loop_health& seen) {
  longest = std::max(longest, seen.longest_stall);
  busy += seen.busy;
  count += seen.stalls;
}

stalls machine_stalls(reactor::nanoseconds busy) {
  const auto thread_cpu = [] { return clock_of(CLOCK_THREAD_CPUTIME_ID); };
  std::atomic<bool> over{false};
  std::thread beside([&over] {
    pin_to_core(1);
    for (volatile unsigned sum = 0; !over;) sum = sum + 1;
  });
  const reactor::nanoseconds wanted = std::clamp<reactor::nanoseconds>(busy, 10s, 60s);
  stalls out;
  for (volatile unsigned sum = 0; out.busy < wanted;) {
    const reactor::nanoseconds before = thread_cpu();
    reactor::nanoseconds took{0};
    while (took < reactor::loop_slice::longest) {
      for (unsigned i = 0; i < 10'000; ++i) sum = sum + i;
      took = thread_cpu() - before;
    }
    out.busy += took;
    out.longest = std::max(out.longest, took);
    if (took > reactor::loop_health::a_stall) ++out.count;
  }
  over = true;
  beside.join();
  return out;
}

void tell_stalls(boost::json::object& to, const stalls& seen) {
  const auto us = [](reactor::nanoseconds d) {
    return rounded(static_cast<double>(d.count()) / 1e3, 0);
  };
  const auto a_minute = [](const stalls& s) {
    return s.count == 0 ? 0 : rounded(static_cast<double>(s.count) * 60 / seconds_of(s.busy), 1);
  };
  const stalls machine = machine_stalls(seen.busy);
  to["worst_stall_us"] = us(seen.longest);
  to["stalls_per_minute"] = a_minute(seen);
  to["machine_stall_us"] = us(machine.longest);
  to["machine_stalls_per_minute"] = a_minute(machine);
}

double seconds_of(reactor::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

bool pin_to_core(int core) {
  if (static_cast<int>(std::thread::hardware_concurrency()) <= core) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace bench
