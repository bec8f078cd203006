#pragma once

#include "formats/yaml/reader.hpp"
#include "helm/apart/ask.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/render/chart_cache.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace helm::apart {

/// What a child's process may map beyond what it has at its start: a chart of
/// service_chart_limits that is loaded, a render of it, and the stack of a deep recursion. With the
/// service and a second child that stands ready it fits into the memory of deploy/chart.
inline constexpr std::uint64_t child_memory_bytes = 72u << 20;
/// Prepared charts that a child keeps for the next job.
inline constexpr std::size_t child_cache_bytes = 12u << 20;
inline constexpr std::size_t longest_job_bytes = 40u << 20;

/// A job as a child does it, on the chart that it is about: null, or why that could not be loaded;
/// and on the pieces that follow a job of that kind.
struct handler {
  job_number number;
  outcome<std::string> (*run)(const request& r, outcome<std::shared_ptr<prepared_chart>>& chart,
                              const text_source& pieces);
  bool has_pieces = false;
};

/// Job::run(chart) gives its answer.
template <class Job>
handler handler_of() {
  return {Job::number,
          [](const request& r, outcome<std::shared_ptr<prepared_chart>>& chart,
             const text_source&) -> outcome<std::string> {
            auto job = from_bytes<Job>(r.body, child_memory_bytes);
            if (!job) return job.error();
            auto answer = job->run(chart);
            return to_bytes(answer);
          }};
}

/// Job::read(pieces) gives it.
template <class Job>
handler handler_of_pieces() {
  return {Job::number,
          [](const request& r, outcome<std::shared_ptr<prepared_chart>>&,
             const text_source& pieces) -> outcome<std::string> {
            auto job = from_bytes<Job>(r.body, child_memory_bytes);
            if (!job) return job.error();
            auto answer = job->read(pieces);
            return to_bytes(answer);
          },
          true};
}

/// What a child keeps between two jobs.
class bench_of_a_child {
public:
  explicit bench_of_a_child(std::span<const handler> all)
      : handlers_(all), charts_(child_cache_bytes, service_chart_limits) {}
  /// A request's reply, whatever the bytes are. Where pieces follow it, all of them are taken.
  std::string reply_to(std::string bytes, const text_source& pieces);

private:
  reply done(request r, const text_source& pieces);
  std::span<const handler> handlers_;
  chart_cache charts_;
};

/// The life of a child: shuts itself in, and does the jobs of its standard input until that ends.
/// Returns its exit status.
int serve(std::span<const handler> all);

/// The words with which this program is started as a child; no command is called like that.
std::vector<std::string> child_argv(const std::string& program = "/proc/self/exe");
bool is_child(int argc, const char* const* argv);

}  // namespace helm::apart
