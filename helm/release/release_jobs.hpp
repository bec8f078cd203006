#pragma once

#include "helm/apart/ask.hpp"
#include "helm/release/decisions.hpp"
#include "helm/release/record.hpp"
#include "helm/release/rendering.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

template <>
inline constexpr helm::release::status formats::wire_last<helm::release::status> =
    helm::release::status::pending_rollback;

namespace helm::release {

using loaded = outcome<std::shared_ptr<prepared_chart>>;

/// A chart as far as it is known outside the process that has it.
struct brief_chart {
  std::string name, version, app_version, kube_version;
  std::string recorded;  // as a record holds it; empty: left out
};
std::shared_ptr<const chart> chart_of(brief_chart b);
outcome<brief_chart> brief_of(const chart& c);

/// Everything that decides what a render of a chart comes to, but for the time, chance and the
/// cluster, whose use the render tells (rendered::impure). The key of a kept render is made of it.
struct render_input {
  value values;
  std::optional<value> chart_values;
  release_options release;
  capabilities caps;
  bool skip_schema = false, sub_notes = false, hide_secrets = false, look_up = true;
  chart_limits limits;
};

/// A render_request without what only its own process can have.
struct render_job {
  static constexpr apart::job_number number = apart::job_number::render;
  render_input input;
  std::chrono::system_clock::time_point now;
  std::chrono::nanoseconds time{};
  std::vector<std::pair<lookup_key, std::pair<std::string, std::string>>> answers;

  struct answer {
    std::optional<lookup_key> missing;
    std::optional<problem> failure;
    std::optional<brief_chart> processed;
    std::vector<hook> hooks;
    std::string manifest, notes;
    std::vector<std::string> lines;
    bool impure = false;
  };
  answer run(loaded& about) const;
};

/// SHA-256 of the chart's digest and of what crosses to the child as render_input; empty: what the
/// request comes to is not shared, since it has a step of the caller's after it, answers of a
/// cluster, or a chart without an archive.
std::string render_key(const render_request& r);

/// render_release(), where the chart is: in a child process, or on the loop's worker for strangers.
/// Shape    callers with one render_key() get what one render came to (apart::kept_renders), unless
///          that had time, chance or the cluster, or failed.
/// Lifetime `r` is used up; its values share nothing.
/// Errors   also those of a child: a limit, a process that cannot be started.
reactor::awaitable<rendered> render_apart(reactor::loop& l, render_request r,
                                          apart::memory_share* within = nullptr);

/// crds_of() in the same place.
struct crds_job {
  static constexpr apart::job_number number = apart::job_number::crds;
  value values;
  chart_limits limits;
  struct answer {
    std::optional<problem> failure;
    std::vector<std::pair<std::string, std::string>> files;
  };
  answer run(loaded& about) const;
};
reactor::awaitable<outcome<std::vector<std::pair<std::string, std::string>>>> crds_apart(
    reactor::loop& l, std::shared_ptr<prepared_chart> chart, value values, chart_limits limits,
    apart::memory_share* within = nullptr);

/// A stored text that anyone may have written, unpacked and read.
struct record_job {
  static constexpr apart::job_number number = apart::job_number::record;
  std::string stored;             // as decode_record() takes it
  std::uint64_t limit_bytes = 0;  // of it, unpacked
  struct answer {
    std::optional<problem> failure;
    std::uint64_t bytes = 0;
    std::string name, ns;
    int revision = 0;
    status state = status::unknown;
    go_time first_deployed, last_deployed, deleted;
    std::string description, notes;
    std::optional<brief_chart> origin;
    value config;
    std::string manifest;
    std::vector<std::pair<hook, std::pair<std::pair<go_time, go_time>, std::string>>> hooks;
    std::string apply_method;
  };
  answer run(loaded& about) const;
};
/// Reads a record in a child process where there are some, else here and now.
/// Shape    where a child reads it, a superseded record comes without its chart: nothing writes it
///          again, and a history has many of them. `owner` names those who may have written it,
///          the release on its cluster: objects are deleted by what is read, so that it must not
///          speak for other releases.
/// Errors   those of decode_record_within, and of a child.
reactor::awaitable<outcome<sized_record>> read_record_apart(reactor::loop& l, std::string stored,
                                                            std::uint64_t limit_bytes,
                                                            std::string owner,
                                                            apart::memory_share* within = nullptr);

/// split_for_uninstall() of a stranger's manifest.
struct split_job {
  static constexpr apart::job_number number = apart::job_number::split;
  std::string text;
  chart_limits limits;
  struct answer {
    std::optional<problem> failure;
    std::string kept, doomed;
  };
  answer work() const;
  answer run(loaded& about) const;
};
/// In a child process where there are some; within `limits`.
/// Errors   those of split_for_uninstall, a limit, a child's.
reactor::awaitable<outcome<uninstall_split>> split_apart(reactor::loop& l, std::string manifest,
                                                         chart_limits limits,
                                                         apart::memory_share* within = nullptr);

}  // namespace helm::release
