#pragma once

#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reactor {
struct loop_health;
}

namespace bench {

/// Processor time of this process so far, user and system.
reactor::nanoseconds process_cpu();
/// Wall time; this is the harness, so it may look at the machine's clock.
reactor::nanoseconds monotonic();
/// Bytes of memory that are resident now.
std::size_t resident_bytes();
/// Bytes handed out by malloc now, including what it needs per block.
std::size_t heap_bytes();
/// Gives freed memory back to the system, so that resident_bytes() means something.
void trim_heap();
/// What would be resident after trim_heap(): a heap that was trimmed pays for its pages once more,
/// and that is no part of what is measured afterwards. In builds without jemalloc (debug) what is
/// resident.
std::size_t trimmed_bytes();

/// machine, cores, compiler, build and library versions; the head of every result.
boost::json::object environment();

/// How a loop held others up, by the thread's clock: the longest turn, and how many were stalls.
struct stalls {
  reactor::nanoseconds longest{}, busy{};
  std::uint64_t count = 0;
  void add(const reactor::loop_health& seen);
};
/// The same of work that is cut into pieces as long as a turn may be, in as much processor time as
/// that one was busy (ten seconds at least, a minute at most), while another core works too. A
/// virtual machine's clock goes on while the host has its processor, so stalls of that length and
/// number are nobody's.
stalls machine_stalls(reactor::nanoseconds busy);
/// worst_stall_us, stalls_per_minute (of processor time), and the machine's own beside them as
/// machine_stall_us, machine_stalls_per_minute.
void tell_stalls(boost::json::object& to, const stalls& seen);

double seconds_of(reactor::nanoseconds d);
/// Of a million bytes each.
double megabytes(std::size_t bytes);

/// A number with a few significant digits, for reading.
double rounded(double value, int digits = 2);

/// Pins this process to one core; false where that is not allowed or there is only one.
bool pin_to_core(int core);

}  // namespace bench
