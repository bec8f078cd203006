#include "compose/objects.hpp"

#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/types/object_type.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

namespace compose {
namespace {

namespace json = boost::json;

constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

std::string digest_of_encoded(std::string_view base64) {
  auto bytes = formats::decode_base64(base64);
  if (!bytes) return "not base64";
  std::string digest = formats::digest_of(*bytes);
  reactor::wipe(*bytes);
  return digest;
}

class writer {
public:
  void open() {
    text_ += '{';
    first_ = true;
  }
  void close() {
    text_ += '}';
    first_ = false;
  }
  void name(std::string_view key) {
    if (!first_) text_ += ',';
    first_ = false;
    k8s::wire_value::append_key_to(text_, key);
  }
  void member(std::string_view key, k8s::wire_value v) {
    v.refuse_duplicates();
    name(key);
    v.append_json_to(text_);
  }
  /// What needs no escape.
  void digest(std::string_view v) {
    text_ += '"';
    text_ += v;
    text_ += '"';
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
  bool first_ = true;
};

void write_metadata(writer& out, k8s::wire_value metadata) {
  out.name("metadata");
  out.open();
  constexpr std::array keys = {"name",
                               "namespace",
                               "uid",
                               "creationTimestamp",
                               "deletionTimestamp",
                               "generation",
                               "labels",
                               "ownerReferences",
                               "finalizers",
                               "annotations"};
  const auto found = std::apply([&](const auto&... key) { return metadata.fields(key...); }, keys);
  for (std::size_t i = 0; i + 1 < keys.size(); ++i)
    if (found[i].present()) out.member(keys[i], found[i]);
  const k8s::wire_value annotations = found.back();
  if (annotations.present()) {
    annotations.refuse_duplicates();
    out.name("annotations");
    out.open();
    annotations.members([&](std::string_view key, k8s::wire_value v) {
      if (key != last_applied) out.member(key, v);
    });
    out.close();
  }
  out.close();
}

}  // namespace

template <content What>
content_view<What> content_view<What>::parse(k8s::wire_value object) {
  content_view v;
  v.meta = k8s::parse_meta(object);
  writer out;
  out.open();
  write_metadata(out, object["metadata"]);
  std::vector<std::string_view> seen;
  object.members([&](std::string_view key, k8s::wire_value member) {
    seen.push_back(key);
    if (key == "metadata" || key == "apiVersion" || key == "kind") return;
    if constexpr (What == content::secret) {
      if (key == "stringData") return;
      if (key == "data") {
        member.refuse_duplicates();
        out.name("digests");
        out.open();
        member.members([&](std::string_view name, k8s::wire_value encoded) {
          out.name(name);
          out.digest(digest_of_encoded(encoded.text()));
        });
        out.close();
        return;
      }
    }
    if (member.present()) out.member(key, member);
  });
  out.close();
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end())
    object.refuse("a key is there twice");
  v.text = out.take();
  return v;
}

template struct content_view<content::plain>;
template struct content_view<content::secret>;

value from_json(const json::value& v) {
  if (v.is_bool()) return v.get_bool();
  if (v.is_int64()) return static_cast<double>(v.get_int64());
  if (v.is_uint64()) return static_cast<double>(v.get_uint64());
  if (v.is_double()) return v.get_double();
  if (v.is_string()) return std::string_view(v.get_string());
  if (v.is_object()) {
    value::object out;
    for (const auto& member : v.get_object())
      out.emplace(std::string(member.key()), from_json(member.value()));
    return out;
  }
  if (v.is_array()) {
    value::array out;
    for (const auto& element : v.get_array()) out.push_back(from_json(element));
    return out;
  }
  return {};
}

json::value to_json(const value& v, json::storage_ptr storage) {
  if (const bool* b = v.if_bool()) return *b;
  if (const double* n = v.if_number()) {
    constexpr double most_exact = 9007199254740992.0;
    if (*n == std::floor(*n) && std::abs(*n) <= most_exact) return static_cast<std::int64_t>(*n);
    return *n;
  }
  if (const std::string* text = v.if_string()) return json::value(*text, storage);
  if (const auto* list = std::get_if<value::array>(&v.data)) {
    json::array out(storage);
    for (const value& one : *list) out.push_back(to_json(one, storage));
    return out;
  }
  if (const auto* members = std::get_if<value::object>(&v.data)) {
    json::object out(storage);
    for (const auto& [key, member] : *members) out.emplace(key, to_json(member, storage));
    return out;
  }
  return nullptr;
}

namespace {

using k8s::field_type;

void settle_fields(value& v, const k8s::object_type& type);

void settle(value& v, const field_type& f) {
  auto* members = std::get_if<value::object>(&v.data);
  if (f.is == field_type::form::list && members && members->empty()) v = value::array{};
  if (f.type) settle_fields(v, *f.type);
  if (!f.element) return;
  if (auto* list = std::get_if<value::array>(&v.data))
    for (value& one : *list) settle(one, *f.element);
  if (members && f.is == field_type::form::map)
    for (auto& [key, one] : *members) settle(one, *f.element);
}

void settle_fields(value& v, const k8s::object_type& type) {
  auto* members = std::get_if<value::object>(&v.data);
  if (!members) return;
  for (auto& [name, member] : *members)
    if (const field_type* f = type.field(name)) settle(member, *f);
}

}  // namespace

void settle_lists(const kind_name& kind, value& body) {
  if (const auto* type = k8s::object_type_of(kind.api_version, kind.kind))
    settle_fields(body, *type);
}

value plain_answer(const kind_name& kind, const json::object& sent) {
  value::object plain;
  for (const auto& member : sent) {
    if (kind.kind == "Secret" && (member.key() == "data" || member.key() == "stringData")) {
      value::object digests;
      if (member.key() == "data" && member.value().is_object())
        for (const auto& [key, encoded] : member.value().get_object())
          if (encoded.is_string())
            digests.emplace(std::string(key), digest_of_encoded(encoded.get_string()));
      if (member.key() == "data") plain.emplace("digests", std::move(digests));
      continue;
    }
    plain.emplace(std::string(member.key()), from_json(member.value()));
  }
  if (const auto metadata = plain.find("metadata"); metadata != plain.end())
    if (auto* members = std::get_if<value::object>(&metadata->second.data))
      if (const auto annotations = members->find("annotations"); annotations != members->end())
        if (auto* all = std::get_if<value::object>(&annotations->second.data))
          all->erase(std::string(last_applied));
  return value(std::move(plain));
}

object read_answer_object(const kind_name& kind, const json::object& sent) {
  value plain = plain_answer(kind, sent);
  auto& members = std::get<value::object>(plain.data);
  if (const auto metadata = members.find("metadata"); metadata != members.end())
    if (auto* its = std::get_if<value::object>(&metadata->second.data)) its->erase("managedFields");
  return policies::compose::read_object(kind, plain);
}

namespace {

template <content What>
class watched final : public watched_kind {
public:
  using view = content_view<What>;
  watched(reactor::loop& l, k8s::client& api, kind_name k, k8s::informer_options o, change changed)
      : watched_kind(l, std::move(k), o.collection), informer_(l, api, std::move(o)) {
    informer_.add_index("owner", [](const view& v, std::vector<k8s::interned>& keys) {
      if (v.meta.owner) keys.emplace_back(v.meta.owner.uid.text());
    });
    informer_.on_change([this, changed = std::move(changed)](const view* before, const view* now) {
      if (before && !now) writes.gone(before->meta.key(), before->meta.uid);
      if (changed(before ? &before->meta : nullptr, now ? &now->meta : nullptr))
        informer_.note_relevant();
    });
  }

  k8s::informer_base& informer() noexcept override { return informer_; }
  std::uint64_t history() const override { return informer_.objects().history(); }
  const k8s::object_meta* meta(const k8s::object_key& key) const override {
    const view* v = informer_.find(key);
    return v ? &v->meta : nullptr;
  }
  bool is_behind(const k8s::object_key& key) override { return writes.is_stale(key, meta(key)); }
  const std::string* text(const k8s::object_key& key) const override {
    const view* v = informer_.find(key);
    return v ? &v->text : nullptr;
  }
  std::vector<k8s::object_key> owned_by(const k8s::uid& owner) const override {
    std::vector<k8s::object_key> keys;
    informer_.objects().each_by("owner", owner.text(),
                                [&](const view& v) { keys.push_back(v.meta.key()); });
    return keys;
  }
  void each(const std::function<void(const k8s::object_meta&)>& f) const override {
    informer_.objects().each([&](const view& v) { f(v.meta); });
  }

private:
  k8s::informer<view> informer_;
};

}  // namespace

std::shared_ptr<const object> object_from(const kind_name& kind, const std::string& text,
                                          std::string resource_version) {
  auto o =
      std::make_shared<object>(policies::compose::read_object(kind, from_json(json::parse(text))));
  o->resource_version = std::move(resource_version);
  return o;
}

bool watched_kind::is_refused() noexcept {
  const auto& why = informer().last_error();
  return why && (why->code == k8s::errc::not_found || why->code == k8s::errc::forbidden);
}

std::shared_ptr<const object> watched_kind::find(const k8s::object_key& key) const {
  const std::string* kept = text(key);
  return kept ? object_from(kind, *kept, meta(key)->resource_version.text()) : nullptr;
}

std::unique_ptr<watched_kind> watched_kind::make(reactor::loop& l, k8s::client& api, kind_name kind,
                                                 k8s::informer_options o, change on_change) {
  if (kind == kind_name{"v1", "Secret"})
    return std::make_unique<watched<content::secret>>(l, api, std::move(kind), std::move(o),
                                                      std::move(on_change));
  return std::make_unique<watched<content::plain>>(l, api, std::move(kind), std::move(o),
                                                   std::move(on_change));
}

}  // namespace compose
