#pragma once

#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string_view>

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

/// How long the longest of many short pieces of work took by the thread's clock, in ten seconds. A
/// virtual machine's clock goes on while the host has its processor, so a stall of this length may
/// be nobody's: it stands beside every figure of the longest stall.
double machine_stall_us();

double seconds_of(reactor::nanoseconds d);
/// Of a million bytes each.
double megabytes(std::size_t bytes);

/// A number with a few significant digits, for reading.
double rounded(double value, int digits = 2);

/// Pins this process to one core; false where that is not allowed or there is only one.
bool pin_to_core(int core);

}  // namespace bench
