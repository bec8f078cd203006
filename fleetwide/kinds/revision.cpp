#include "fleetwide/kinds/revision.hpp"

#include "bootc/kinds/names.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/digest.hpp"
#include "formats/json/member.hpp"
#include "k8s/client/wire.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t digest_digits = 16;
/// There may be twenty thousand revisions, and what is asked for now is in a few of them.
constexpr std::size_t kept_with_others = 65'536;
constexpr std::int64_t most_number = 1'000'000'000'000;  // others may write any

/// With the members of objects in their order.
json::value sorted(const json::value& v) {
  if (const json::array* list = v.if_array()) {
    json::array out;
    for (const json::value& one : *list) out.push_back(sorted(one));
    return out;
  }
  const json::object* o = v.if_object();
  if (!o) return v;
  std::map<std::string_view, const json::value*> members;
  for (const auto& m : *o) members.emplace(m.key(), &m.value());
  json::object out;
  for (const auto& [key, value] : members) out[key] = sorted(*value);
  return out;
}

json::value parsed(const std::string& text) {
  boost::system::error_code wrong;
  json::value v = json::parse(text, wrong);
  return wrong ? json::value(json::object()) : v;
}

}  // namespace

const k8s::resource& controller_revisions() {
  static const k8s::resource r{"apps", "v1", "controllerrevisions", "ControllerRevision", true};
  return r;
}

std::string revision_content::digest() const {
  json::array all{sorted(parsed(template_json)), json::value(ref), json::value(image_digest)};
  return formats::sha256_hex(json::serialize(all)).substr(0, digest_digits);
}

bool revision_content::is_by_tag() const {
  return ref.find('@') == std::string::npos;
}

revision revision::parse(k8s::wire_value object) {
  revision out;
  out.meta = k8s::parse_meta(object);
  const auto [data, number] = object.fields("data", "revision");
  out.number = std::clamp<std::int64_t>(number.integer(), 0, most_number);
  const auto [made, ref, image] = data.fields("template", "ref", "imageDigest");
  out.content.template_json = made.present() ? made.json() : "{}";
  out.content.ref = ref.text();
  out.content.image_digest = image.text();
  out.is_as_named = out.content.template_json.size() <= most_revision_bytes &&
                    out.meta.name.str().ends_with("-" + out.content.digest());
  out.is_whole = out.content.template_json.size() <= kept_with_others;
  if (!out.is_whole) std::string().swap(out.content.template_json);
  return out;
}

revision_content content_of(const json::object& controller_revision) {
  revision_content out;
  const json::value* data = controller_revision.if_contains("data");
  const json::object none;
  const json::object& is = data && data->is_object() ? data->get_object() : none;
  const json::value* made = is.if_contains("template");
  out.template_json = made ? json::serialize(*made) : "{}";
  out.ref = formats::text_member(is, "ref");
  out.image_digest = formats::text_member(is, "imageDigest");
  return out;
}

std::size_t revision::heap_bytes() const noexcept {
  return meta.heap_bytes() + content.template_json.capacity() + content.ref.capacity();
}

std::string revision_name(std::string_view object, std::string_view digest) {
  return std::string(object) + "-" + std::string(digest);
}

json::object to_json(const revision_owner& of, std::int64_t number, const revision_content& c) {
  json::object data;
  data["template"] = parsed(c.template_json);
  data["ref"] = c.ref;
  if (!c.image_digest.empty()) data["imageDigest"] = c.image_digest;
  json::object labels, owner, metadata, out;
  labels[names::revision_of] = of.uid;
  owner["apiVersion"] = of.api_version;
  owner["kind"] = of.kind;
  owner["name"] = of.name;
  owner["uid"] = of.uid;
  owner["controller"] = true;
  owner["blockOwnerDeletion"] = true;
  metadata["name"] = revision_name(of.name, c.digest());
  metadata["labels"] = std::move(labels);
  json::array owners;
  owners.push_back(std::move(owner));
  metadata["ownerReferences"] = std::move(owners);
  out["metadata"] = std::move(metadata);
  out["revision"] = number;
  out["data"] = std::move(data);
  return out;
}

json::object pool_for_member(const revision_content& c, std::string_view pool,
                             const member_marks& m) {
  json::object out = parsed(c.template_json).as_object();
  json::value& metadata = out["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  json::object& meta = metadata.get_object();
  json::value& annotations = meta["annotations"];
  if (!annotations.is_object()) annotations.emplace_object();
  json::object& notes = annotations.get_object();
  notes[names::object] = m.object;
  notes[names::uid] = m.uid;
  notes[names::revision] = std::to_string(m.revision);
  notes[names::digest] = m.digest;
  notes[names::since] = m.since;
  json::object image;
  image["ref"] = c.ref;
  // No tag moves a member by itself: what it names by now is a revision of its own.
  if (c.is_by_tag()) {
    image["updates"] = "Manual";
    const std::string& held = c.image_digest.empty() ? m.image_digest : c.image_digest;
    if (!held.empty()) notes[bootc::names::approve_digest] = held;
  }
  meta["name"] = std::string(pool);
  json::value& spec = out["spec"];
  if (!spec.is_object()) spec.emplace_object();
  spec.get_object()["image"] = std::move(image);
  return out;
}

}  // namespace fleetwide
