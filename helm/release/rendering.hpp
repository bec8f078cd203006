#pragma once

#include "helm/render/manifest_text.hpp"
#include "helm/render/manifests.hpp"
#include "helm/render/prepared_chart.hpp"
#include "helm/render/render_context.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/worker_clock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace helm::release {

/// apiVersion, kind, namespace and name as a template gave them to `lookup`.
using lookup_key = std::array<std::string, 4>;
/// The cluster's answer: JSON, "" for what is not there; or the error.
struct lookup_answer {
  std::string json;
  std::string error;
};
using lookup_answers = std::map<lookup_key, lookup_answer>;

/// Everything a render depends on. Made on the loop, used up on a worker: values are copies of
/// their own.
struct render_request {
  std::shared_ptr<prepared_chart> chart;
  value values;                       // what the user gave
  std::optional<value> chart_values;  // instead of the chart's own
  release_options release;
  capabilities caps;
  std::chrono::system_clock::time_point now;  // for the template functions that ask
  reactor::worker_clock steady;               // bounds the render's time
  std::shared_ptr<reactor::entropy> random;   // null: the operating system's
  bool skip_schema = false;
  bool sub_notes = false;
  bool hide_secrets = false;
  manifest_step after;
  chart_limits limits;
  std::chrono::nanoseconds time = std::chrono::minutes(5);
  bool look_up = true;  // false: every lookup finds nothing
  std::shared_ptr<const lookup_answers> answers;
  std::string answers_of;  // the release whose namespace those come from, with its cluster
  std::shared_ptr<const std::atomic<bool>> cancelled;
};

/// What came of it. A render that needed an answer it did not have names it in `missing`, and says
/// nothing else.
struct rendered {
  std::optional<lookup_key> missing;
  std::optional<problem> failure;
  std::shared_ptr<const chart> processed;  // as a record keeps it
  std::vector<hook> hooks;
  std::string manifest, notes;
  std::vector<std::string> lines;  // warnings
  bool impure = false;             // render_runtime::impure
};

/// Long, and pure but for `after`: for render_apart().
rendered render_release(const render_request& r);

/// crds/ of a chart and of the subcharts that these values enable: path in the chart tree and text.
/// Errors   those of process_dependencies, and of going over the limits.
outcome<std::vector<std::pair<std::string, std::string>>> crds_of(prepared_chart& c,
                                                                  const value& values,
                                                                  const chart_limits& limits = {});

}  // namespace helm::release
