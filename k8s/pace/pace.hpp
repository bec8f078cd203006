#pragma once

#include "reactor/plain/time.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace k8s {

struct pace_settings {
  double first = 400;  // requests a second to a server that has not answered yet
  /// Upper bounds, however well the server answers: with API priority and fairness, which queues
  /// what is too much for it, and without.
  double most = 3'200, most_unguarded = 1'600;
  double least = 1;         // 429 never halves the rate below this
  double least_slow = 100;  // slow answers never do: a webhook or others may be the reason
};

/// What one answer says about the server.
struct paced_answer {
  bool throttled = false;  // 429
  /// From sending to the whole answer, or to the deadline that nothing came before; none for a
  /// stream.
  std::optional<reactor::nanoseconds> took;
  bool held_others = false;  // requests waited for permission when the answer came
  bool fairness = false;     // it names a priority level
  std::optional<reactor::nanoseconds> retry_after;
};

/// How many requests a second one server is asked.
/// Grows    in each second in which requests had to wait and answers were good: doubles until the
///          server is in trouble for the first time, then by a quarter of the first rate.
/// Halves   at most once a second: at a 429, and when the median answer of a second takes longer
///          than twice the usual time and a quarter of a second.
/// Recovers below the first rate a tenth of it each second, whether requests wait or not.
/// Forgets  after a minute without answers it is the first rate again, at most.
/// Pauses   a 429 holds every request for Retry-After, or for a second.
/// Source   RFC 5681 (slow start, congestion avoidance, restart after idle); the API server's
///          service level objective of one second for single objects.
class pace {
public:
  using steady_time = reactor::steady_time;
  explicit pace(steady_time now, pace_settings s = {});

  void answered(const paced_answer& a, steady_time now);

  double rate() const noexcept { return rate_; }
  steady_time paused_until() const noexcept { return paused_until_; }
  /// What the median answer takes while the server is at ease; none before it is known.
  std::optional<reactor::nanoseconds> usual() const noexcept { return usual_; }

private:
  void throttled(const paced_answer& a, steady_time now);
  void sample(reactor::nanoseconds took);
  void end_second(steady_time now);
  bool is_slow();
  void halve(double least, steady_time now);
  void grow();

  pace_settings settings_;
  double rate_;
  bool had_trouble_ = false;
  steady_time paused_until_{}, halved_at_, answered_at_;
  std::optional<reactor::nanoseconds> usual_;
  /// The second that is under way.
  steady_time began_;
  bool held_others_ = false, fairness_ = false;
  std::array<reactor::nanoseconds, 64> samples_{};  // the newest of it
  std::size_t sampled_ = 0;
};

}  // namespace k8s
