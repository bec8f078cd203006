#include "fleetwide/charts/chart_note.hpp"

#include "k8s/client/wire.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 3> states{"begun", "done", "failed"};
constexpr std::size_t most_why_bytes = 1'024, most_text_bytes = 600, most_kinds = 16;

}  // namespace

std::optional<chart_note> read_note(std::string_view text) {
  // Notes are texts in an object that another parser is reading.
  static thread_local k8s::wire_parser parser;
  auto v = parser.parse(text);
  if (!v) return std::nullopt;
  chart_note n;
  const auto [object, uid, revision, digest, content, since, state, record, version, hold, why,
              kinds] = v->fields("object", "uid", "revision", "digest", "content", "since", "state",
                                 "record", "version", "hold", "why", "kinds");
  // Its cluster may have written anything, and people are shown it.
  const auto cut = [](k8s::wire_value v, std::size_t most = most_text_bytes) {
    return std::string(v.text().substr(0, most));
  };
  n.object = cut(object);
  n.uid = cut(uid);
  n.revision = revision.integer();
  n.digest = cut(digest);
  n.content = cut(content);
  n.since = cut(since);
  const auto found = std::ranges::find(states, state.text());
  if (found == states.end() || n.object.empty() || parser.problem()) return std::nullopt;
  n.is = static_cast<chart_note::state>(found - states.begin());
  n.record = cut(record);
  n.version = cut(version);
  kinds.elements([&](k8s::wire_value kind) {
    if (n.kinds.size() < most_kinds) n.kinds.push_back(cut(kind));
  });
  n.hold = cut(hold);
  n.why = cut(why, most_why_bytes);
  return n;
}

std::string write_note(const chart_note& n) {
  json::object out{{"object", n.object},
                   {"uid", n.uid},
                   {"revision", n.revision},
                   {"digest", n.digest},
                   {"content", n.content},
                   {"since", n.since},
                   {"state", states[static_cast<std::size_t>(n.is)]}};
  if (!n.record.empty()) out["record"] = n.record;
  if (!n.version.empty()) out["version"] = n.version;
  json::array kinds;
  for (const std::string& kind : n.kinds) kinds.emplace_back(kind);
  if (!kinds.empty()) out["kinds"] = std::move(kinds);
  if (!n.hold.empty()) out["hold"] = n.hold;
  if (!n.why.empty()) out["why"] = n.why.substr(0, most_why_bytes);
  return json::serialize(out);
}

std::string note_key(std::string_view claim) {
  std::string out(claim);
  std::ranges::replace(out, '/', '.');
  return out;
}

chart_notes chart_notes::parse(k8s::wire_value object) {
  chart_notes out;
  out.meta = k8s::parse_meta(object);
  object["data"].members([&](std::string_view key, k8s::wire_value text) {
    if (auto note = read_note(text.text())) out.by_key.emplace(std::string(key), std::move(*note));
  });
  return out;
}

std::size_t chart_notes::heap_bytes() const noexcept {
  return meta.heap_bytes() + by_key.size() * sizeof(chart_note);
}

}  // namespace fleetwide
