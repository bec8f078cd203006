#include "helm/tenants/supply/supply_jobs.hpp"

#include "formats/digest.hpp"
#include "helm/sources/index.hpp"
#include "reactor/loop.hpp"

namespace helm::tenants {
namespace {

/// What is kept of an index for as long as the service runs. Five thousand versions take a third.
constexpr std::size_t most_offers_bytes = 2u << 20;

}  // namespace

index_job::answer index_job::read(const text_source& pieces) const {
  answer out;
  auto content = sources::read_index_of(pieces, chart, shown, memory_bytes);
  if (!content) {
    out.problem = content.error().text;
    return out;
  }
  std::size_t bytes = 0;
  for (const sources::chart_version& v : content->index.entries[chart]) {
    if (v.removed) continue;
    offer one;
    one.version = v.meta.version;
    one.digest = v.digest;
    if (!v.urls.empty()) one.url = v.urls.front();
    bytes += sizeof one + one.version.size() + one.digest.size() + one.url.size();
    if (bytes > most_offers_bytes) {
      out.offers.clear();
      out.problem = shown + ": the versions of chart " + chart + " take more than " +
                    std::to_string(most_offers_bytes) + " bytes";
      return out;
    }
    out.offers.push_back(std::move(one));
  }
  return out;
}

awaitable<reactor::result<void>> index_stream::open() {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(loop_);
  if (!children || to_) co_return reactor::result<void>();
  apart::request r;
  r.job = index_job::number;
  r.body = *to_bytes(job_);
  auto opened = co_await children->open(*to_bytes(r));
  if (!opened) co_return opened.error();
  to_ = std::move(*opened);
  co_return reactor::result<void>();
}

awaitable<reactor::result<void>> index_stream::put(std::string piece) {
  auto opened = co_await open();
  if (!opened) co_return opened.error();
  if (to_) co_return co_await to_->put(std::move(piece));
  text_ += piece;
  co_return reactor::result<void>();
}

awaitable<index_job::answer> index_stream::finish() {
  index_job::answer out;
  auto opened = co_await open();
  if (opened && !to_) {
    const auto here = [](const index_job& job, const std::string& text) {
      std::size_t used = 0;
      return job.read([&](char* into, std::size_t room) {
        const std::size_t n = text.copy(into, room, used);
        used += n;
        return n;
      });
    };
    out = co_await loop_.offload_foreign(here, job_, std::move(text_));
    co_return out;
  }
  const char* doing = "the repository index cannot be read: ";
  if (!opened) {
    out.problem = doing + opened.error().detail;
    co_return out;
  }
  auto said = co_await to_->finish();
  to_.reset();
  if (!said) {
    out.problem = doing + said.error().detail;
    co_return out;
  }
  auto r = co_await loop_.offload(&apart::read_answer<index_job>, std::move(*said));
  if (r.failure)
    out.problem = doing + r.failure->text;
  else
    out = std::move(r.answer);
  co_return out;
}

load_job::answer load_job::run(outcome<std::shared_ptr<prepared_chart>>& chart) const {
  answer out;
  if (!chart)
    out.problem = chart.error().text;
  else if (!*chart)
    out.problem = "there is no archive";
  if (!out.problem.empty()) return out;
  const metadata& is = (*chart)->meta();
  out.name = is.name;
  out.version = is.version;
  out.app_version = is.app_version;
  return out;
}

awaitable<unpacked_chart> unpack_apart(reactor::loop& l, std::shared_ptr<chart_cache> cache,
                                       std::string archive) {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!children) {
    const auto here = [](const std::shared_ptr<chart_cache>& into, const std::string& bytes) {
      unpacked_chart u;
      u.digest = formats::digest_of(bytes);
      auto chart = into->from_archive(bytes);
      if (chart)
        u.chart = *chart;
      else
        u.problem = chart.error().text;
      return u;
    };
    unpacked_chart u = co_await l.offload_foreign(here, cache, std::move(archive));
    co_return u;
  }
  archived_chart bytes;
  bytes.archive = std::make_shared<const std::string>(std::move(archive));
  const auto digest = [](const std::shared_ptr<const std::string>& of) {
    return formats::digest_of(*of);
  };
  bytes.digest = co_await l.offload(digest, bytes.archive);
  unpacked_chart u;
  u.digest = bytes.digest;
  auto asked = std::make_shared<prepared_chart>(bytes, metadata());
  load_job job;
  auto said = co_await apart::ask(l, *children, std::move(job), std::move(asked));
  if (!said) {
    u.problem = "the chart cannot be loaded: " + said.error().text;
    co_return u;
  }
  if (!said->problem.empty()) {
    u.problem = std::move(said->problem);
    co_return u;
  }
  metadata is;
  is.name = std::move(said->name);
  is.version = std::move(said->version);
  is.app_version = std::move(said->app_version);
  u.chart = cache->keep(std::make_shared<prepared_chart>(std::move(bytes), std::move(is)));
  co_return u;
}

}  // namespace helm::tenants
