#include "helm/placed/stored_release.hpp"

#include "formats/base64.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/objects/manifest_reader.hpp"
#include "helm/release/own_records.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <span>

namespace helm::placed {
namespace {

constexpr chart_limits stored_limits{.memory_bytes = 64u << 20};

known_release by_labels(const listed_record& of) {
  known_release out;
  out.record = of.name;
  out.version = of.version;
  out.facts.revision = of.revision;
  out.facts.state = release::read_status(of.status);
  return out;
}

}  // namespace

known_release stored_release::run(release::loaded&) const {
  known_release out = by_labels(of);
  (void)bounded("the record cannot be read", stored_limits, [&]() -> outcome<bool> {
    std::string stored = text;
    if (kind == record_driver::secrets) {
      auto bytes = formats::decode_base64(text);
      if (!bytes) return false;
      stored = std::move(*bytes);
    }
    const auto record = release::decode_record(stored);
    if (!record) return false;
    const std::span<const release::record> alone(&*record, 1);
    if (auto facts = newest_of(alone)) out.facts = std::move(*facts);
    out.facts.revision = of.revision;
    if (const auto documents = objects::read_manifest(record->manifest))
      out.objects = checked_objects(*documents, ns);
    return true;
  });
  return out;
}

reactor::awaitable<known_release> read_stored(reactor::loop& l, stored_release what,
                                              std::string place, apart::memory_share* within) {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!children) {
    const auto here = [](const stored_release& job) {
      release::loaded none = std::shared_ptr<prepared_chart>();
      return job.run(none);
    };
    known_release read = co_await l.offload(here, std::move(what));
    co_return read;
  }
  const listed_record of = what.of;
  // Those of strangers share a child, too, since there are as many as Tenants at each start. What
  // one says of another is looked at and never written: an operation reads the records again, by
  // themselves.
  std::string owner =
      co_await release::reader_of_record(l, std::move(place), what.text, "newest records");
  auto said = co_await apart::ask(l, *children, std::move(what), nullptr, std::move(owner), within);
  if (!said) co_return by_labels(of);
  // It is the record that was asked about, whatever it says.
  said->record = of.name;
  said->version = of.version;
  said->facts.revision = of.revision;
  co_return std::move(*said);
}

}  // namespace helm::placed
