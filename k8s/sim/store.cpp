#include "k8s/sim/store.hpp"

#include "formats/json/exact.hpp"

#include <utility>

namespace k8s::sim {

json::object version::parsed() const {
  if (seen_) return *seen_;
  boost::system::error_code code;
  json::value v = formats::parse_json(bytes, code, 256);
  return std::move(v.as_object());
}

std::string version::bytes_without_managers() const {
  std::string out;
  out.reserve(bytes.size() - managed_length);
  out.append(bytes, 0, managed_begin);
  return out.append(bytes, managed_begin + managed_length);
}

std::shared_ptr<const json::object> version::look() const {
  return seen_ ? seen_ : std::make_shared<const json::object>(parsed());
}

namespace {

/// Appends metadata, its managedFields last, and notes where they stand.
void append_metadata(version& v, const json::object& metadata) {
  char before = '{';
  const auto append = [&](std::string_view name, const json::value& value) {
    append_text(v.bytes.append(1, std::exchange(before, ',')).append(quoted(name)).append(1, ':'),
                value);
  };
  for (const auto& [name, value] : metadata)
    if (name != "managedFields") append(name, value);
  v.managed_begin = static_cast<std::uint32_t>(v.bytes.size());
  if (const json::value* managed = metadata.if_contains("managedFields"))
    append("managedFields", *managed);
  v.managed_length = static_cast<std::uint32_t>(v.bytes.size()) - v.managed_begin;
  v.bytes += '}';
}

}  // namespace

version_ptr make_version(json::object& o, std::uint64_t revision) {
  ensure_object(o, "metadata")["resourceVersion"] = std::to_string(revision);
  auto v = std::make_shared<version>();
  if (const json::array* owners = find_array(o, {"metadata", "ownerReferences"}))
    for (const json::value& r : *owners)
      if (r.is_object()) v->owners.emplace_back(text(r.get_object(), {"uid"}));
  v->node = text(o, {"spec", "nodeName"});
  v->is_ending = !text(o, {"metadata", "deletionTimestamp"}).empty();
  v->revision = revision;
  v->bytes = "{\"kind\":" + quoted(text(o, {"kind"})) +
             ",\"apiVersion\":" + quoted(text(o, {"apiVersion"}));
  // less the brace, plus the comma
  v->type_meta_bytes = static_cast<std::uint32_t>(v->bytes.size());
  for (const auto& [name, value] : o) {
    if (name == "kind" || name == "apiVersion") continue;
    v->bytes.append(1, ',').append(quoted(name)).append(1, ':');
    if (name == "metadata")
      append_metadata(*v, value.get_object());
    else
      append_text(v->bytes, value);
  }
  v->bytes += '}';
  v->bytes.shrink_to_fit();
  return v;
}

std::string object_path(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : std::string(ns) + "/" + std::string(name);
}

const store::collection& store::objects(std::string_view name) const {
  static const collection none;
  auto at = collections_.find(name);
  return at == collections_.end() ? none : at->second;
}

version_ptr store::get(std::string_view collection, std::string_view key) const {
  const auto& all = objects(collection);
  auto at = all.find(key);
  return at == all.end() ? nullptr : at->second;
}

store::collection store::snapshot(std::string_view name, std::uint64_t revision) const {
  collection then = objects(name);
  for (auto c = changes_.rbegin(); c != changes_.rend() && c->revision > revision; ++c) {
    if (c->collection != name) continue;
    if (c->before) {
      then[c->key] = c->before;
    } else {
      then.erase(c->key);
    }
  }
  return then;
}

const change& store::put(std::string_view collection, std::string_view key, json::object& o,
                         reactor::steady_time now) {
  auto at = collections_.find(collection);
  if (at == collections_.end())
    at = collections_.emplace(std::string(collection), store::collection{}).first;
  change c;
  c.revision = ++revision_;
  c.collection = std::string(collection);
  c.key = std::string(key);
  c.object = make_version(o, c.revision);
  c.when = now;
  version_ptr& slot = at->second[c.key];
  c.before = slot;
  c.type = slot ? change::what::modified : change::what::added;
  slot = c.object;
  return record(std::move(c));
}

const change& store::remove(std::string_view collection, std::string_view key, json::object& o,
                            reactor::steady_time now) {
  change c;
  c.type = change::what::deleted;
  c.revision = ++revision_;
  c.collection = std::string(collection);
  c.key = std::string(key);
  c.when = now;
  c.object = make_version(o, c.revision);
  if (auto at = collections_.find(collection); at != collections_.end()) {
    if (auto slot = at->second.find(key); slot != at->second.end()) {
      c.before = slot->second;
      at->second.erase(slot);
    }
  }
  return record(std::move(c));
}

const change& store::record(change c) {
  const reactor::steady_time now = c.when;
  changes_.push_back(std::move(c));
  trim(now);
  return changes_.back();
}

void store::trim(reactor::steady_time now) {
  // The newest change stays whatever the limits say: its writer still looks at it.
  while (changes_.size() > 1 &&
         (changes_.size() > limits_.changes || now - changes_.front().when > limits_.age)) {
    compacted_ = changes_.front().revision;
    changes_.pop_front();
  }
}

void store::compact() {
  compacted_ = revision_;
  changes_.clear();
}

std::size_t store::object_count() const {
  std::size_t n = 0;
  for (const auto& [name, objects] : collections_) n += objects.size();
  return n;
}

}  // namespace k8s::sim
