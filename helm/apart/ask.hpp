#pragma once

#include "formats/wire.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"
#include "helm/render/prepared_chart.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/foreign_work.hpp"
#include "reactor/loop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Jobs on charts, indexes and records of strangers, which a child process does: what crosses, and
/// how it is asked.
namespace helm::apart {

using reactor::awaitable;

/// Which job a request is for.
enum class job_number : std::uint8_t { load, render, crds, index, record, stored, manifest, split };

/// What an answer may take in memory here. It is read as something that a stranger wrote: the child
/// that wrote it has run the stranger's chart.
inline constexpr std::uint64_t answer_memory_bytes = 96u << 20;

/// One request. The archive goes with it where the child does not have the chart yet.
struct request {
  job_number job = job_number::load;
  std::string digest;   // of its chart; empty: it is about none
  std::string archive;  // empty: the child may have it
  std::string body;     // the job
};
enum class reply_kind : std::uint8_t { done, chart_needed, refused };
struct reply {
  reply_kind is = reply_kind::refused;
  std::string body;  // the answer, or why there is none
};

}  // namespace helm::apart

template <>
inline constexpr helm::apart::job_number formats::wire_last<helm::apart::job_number> =
    helm::apart::job_number::split;
template <>
inline constexpr helm::apart::reply_kind formats::wire_last<helm::apart::reply_kind> =
    helm::apart::reply_kind::refused;

namespace helm::apart {

template <class Job>
struct read_reply {
  bool chart_needed = false;
  std::optional<problem> failure;
  typename Job::answer answer;
};

/// What a child said. Long: for loop::offload.
template <class Job>
read_reply<Job> read_answer(std::string& said) {
  read_reply<Job> out;
  auto r = from_bytes<reply>(said, answer_memory_bytes);
  std::string().swap(said);
  if (!r || r->is == reply_kind::refused) {
    out.failure = r ? problem{std::move(r->body)} : r.error();
  } else if (r->is == reply_kind::chart_needed) {
    out.chart_needed = true;
  } else {
    auto a = from_bytes<typename Job::answer>(r->body, answer_memory_bytes);
    if (a)
      out.answer = std::move(*a);
    else
      out.failure = a.error();
  }
  return out;
}

/// The memory that an operation has (reactor::work_memory); null: as much as the limits allow.
using memory_share = reactor::work_memory::share;

/// Waits until a text of so many bytes may be there. Returns why it may not, or may no longer.
inline awaitable<std::optional<problem>> room_for(memory_share* within, std::uint64_t bytes) {
  if (!within || bytes <= reactor::work_memory::small_bytes) co_return std::nullopt;
  auto grown = co_await within->grow();
  if (!grown) co_return problem{grown.error().detail};
  co_return std::nullopt;
}

/// Has a child do a job. Bytes are made and read on the loop's own workers.
/// Shape    `about` is the chart that the job is about, or null; `owner` is whose bytes there are
///          beside the chart's (foreign_workers::run). An answer that is larger than the share is
///          thrown away, and asked for again once there is room.
/// Errors   why there is no answer, as a sentence.
template <class Job>
awaitable<outcome<typename Job::answer>> ask(reactor::loop& l, reactor::foreign_workers& workers,
                                             Job job,
                                             std::shared_ptr<prepared_chart> about = nullptr,
                                             std::string owner = {},
                                             memory_share* within = nullptr) {
  const auto write = [](Job& of) { return to_bytes(of); };
  auto body = co_await l.offload(write, std::move(job));
  if (!body) co_return body.error();
  auto shared = std::make_shared<const std::string>(std::move(*body));
  archived_chart chart;
  if (about && about->archived()) chart = *about->archived();
  if (!chart.digest.empty()) owner = "chart " + chart.digest + " " + owner;
  constexpr int most_tries = 4;  // without the archive, with it, and each again with more room
  bool with_archive = false;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::size_t archive_bytes = with_archive && chart.archive ? chart.archive->size() : 0;
    auto no_room = co_await room_for(within, shared->size() + archive_bytes);
    if (no_room) co_return *no_room;
    const auto frame = [](const std::shared_ptr<const std::string>& asked, const archived_chart& of,
                          bool whole) {
      const std::string_view archive =
          whole && of.archive ? std::string_view(*of.archive) : std::string_view();
      wire_writer w(asked->size() + archive.size() + 256);  // a `request`, without its copies
      w.put(Job::number);
      w.text(of.digest);
      w.text(archive);
      w.text(*asked);
      return w.take();
    };
    std::string bytes = co_await l.offload(frame, shared, chart, with_archive);
    auto got = co_await workers.run(std::move(bytes), owner);
    if (!got) co_return problem{got.error().detail};
    if (within && got->size() > within->most()) {
      const std::size_t needed = got->size();
      std::string().swap(*got);
      no_room = co_await room_for(within, needed);
      if (no_room) co_return *no_room;
      continue;
    }
    read_reply<Job> r = co_await l.offload(&read_answer<Job>, std::move(*got));
    if (r.failure) co_return *r.failure;
    if (!r.chart_needed) co_return std::move(r.answer);
    if (with_archive) break;
    with_archive = true;
  }
  co_return problem{"the process that works on the chart does not take it"};
}

/// Bytes of a text that a worker of this process may read, and what it may take for that; what is
/// longer, or would take more, a child reads.
inline constexpr std::size_t short_text_bytes = 1u << 20;
inline constexpr chart_limits short_text_limits{.memory_bytes = 8u << 20, .steps = 2'000'000};

/// Has a job done whose bytes are one text of a stranger, Job::text, without a chart: a short one
/// by a worker of this process, any other, and one that takes too much, by a child. Where there is
/// no child, the worker for strangers does it within the job's own limits.
/// Errors   as ask().
template <class Job>
awaitable<outcome<typename Job::answer>> ask_about_text(reactor::loop& l, Job job,
                                                        memory_share* within = nullptr) {
  using answer = typename Job::answer;
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!children) {
    const auto alone = [](Job& of) {
      outcome<std::shared_ptr<prepared_chart>> none = std::shared_ptr<prepared_chart>();
      return of.run(none);
    };
    answer out = co_await l.offload_foreign(alone, std::move(job));
    co_return std::move(out);
  }
  if (job.text.size() <= short_text_bytes) {
    auto shared = std::make_shared<const Job>(std::move(job));
    const auto here = [](const std::shared_ptr<const Job>& of) {
      return done_within(short_text_limits, [&] { return of->work(); });
    };
    std::optional<answer> out = co_await l.offload(here, shared);
    if (out) co_return std::move(*out);
    job = *shared;
  }
  co_return co_await ask(l, *children, std::move(job), nullptr, {}, within);
}

}  // namespace helm::apart
