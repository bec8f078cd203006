#include "bootc/kinds/bootc_node.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/kinds/our_annotations.hpp"
#include "k8s/client/wire.hpp"
#include "registry/image_ref.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <iterator>

namespace bootc {

using registry::digest_in;

namespace {

namespace json = boost::json;

std::optional<image_info> read_image(k8s::wire_value entry) {
  if (!entry.present()) return std::nullopt;
  const auto [image, digest, version, timestamp, architecture, soft, incompatible] =
      entry.fields("image", "imageDigest", "version", "timestamp", "architecture",
                   "softRebootCapable", "incompatible");
  image_info out;
  out.image = image.text();
  out.digest = digest.text();
  out.version = version.text();
  out.timestamp = timestamp.text();
  out.architecture = architecture.text();
  out.soft_reboot_capable = soft.boolean();
  out.incompatible = incompatible.boolean();
  return out;
}

constexpr std::size_t most_unknown_bytes = 200;

/// The members of the spec that the reader below does not read, and a state that is none.
std::string unknown_in(k8s::wire_value spec, std::string_view state) {
  static constexpr std::string_view known[] = {"desiredImage", "desiredImageState",
                                               "pullSecretHash", "pullSecretRef"};
  std::string out;
  const auto add = [&out](std::string_view name) {
    if (out.size() < most_unknown_bytes)
      out.append(out.empty() ? "" : ", ").append("spec.").append(name);
  };
  if (spec.kind() == k8s::wire_kind::object)
    spec.members([&](std::string_view name, k8s::wire_value) {
      if (std::ranges::find(known, name) == std::end(known)) add(name);
    });
  if (!state.empty() && parse_image_state(state) == image_state::unset)
    add("desiredImageState: " + std::string(state));
  out.resize(std::min(out.size(), most_unknown_bytes));
  return out;
}

json::value write_image(const std::optional<image_info>& info) {
  if (!info) return nullptr;
  json::object out{{"image", info->image}, {"imageDigest", info->digest}};
  // Absent values are written as null: in a merge patch this removes what an earlier image had.
  const auto put = [&](const char* key, const std::string& value) {
    out[key] = value.empty() ? json::value(nullptr) : json::value(value);
  };
  put("version", info->version);
  put("timestamp", info->timestamp);
  put("architecture", info->architecture);
  out["softRebootCapable"] = info->soft_reboot_capable ? json::value(true) : json::value(nullptr);
  out["incompatible"] = info->incompatible ? json::value(true) : json::value(nullptr);
  return out;
}

}  // namespace

const k8s::resource& bootc_nodes() {
  static const k8s::resource r{std::string(names::group), std::string(names::version), "bootcnodes",
                               "BootcNode", false};
  return r;
}

bool is_image(const image_info& entry, std::string_view digest) noexcept {
  return !digest.empty() &&
         (entry.digest == digest ||
          (std::string_view(entry.image).ends_with(digest) && digest_in(entry.image) == digest));
}

std::string_view text(image_state s) noexcept {
  switch (s) {
    case image_state::staged: return "Staged";
    case image_state::booted: return "Booted";
    case image_state::unset: break;
  }
  return "";
}

image_state parse_image_state(std::string_view text) noexcept {
  if (text == "Staged") return image_state::staged;
  if (text == "Booted") return image_state::booted;
  return image_state::unset;
}

bool bootc_node::in_slot() const {
  return meta.annotations.has(names::in_reboot_slot);
}

std::optional<std::string_view> bootc_node::annotation(std::string_view key) const {
  const auto* found = meta.annotations.find(key);
  return found ? std::optional(found->view()) : std::nullopt;
}

bootc_node bootc_node::parse(k8s::wire_value object) {
  bootc_node out;
  out.meta = k8s::parse_meta(object, our_annotations);
  const auto [spec, status] = object.fields("spec", "status");
  const auto [image, state, hash, secret] =
      spec.fields("desiredImage", "desiredImageState", "pullSecretHash", "pullSecretRef");
  out.spec.desired_image = image.text();
  out.spec.desired_state = parse_image_state(state.text());
  out.spec.pull_secret_hash = hash.text();
  out.spec.pull_secret = parse_secret_ref(secret);
  out.spec.unknown = unknown_in(spec, state.text());
  const auto [observed, booted, staged, rollback, conditions] =
      status.fields("observedGeneration", "booted", "staged", "rollback", "conditions");
  out.status.observed_generation = observed.integer();
  out.status.booted = read_image(booted);
  out.status.staged = read_image(staged);
  out.status.rollback = read_image(rollback);
  out.status.conditions = parse_conditions(conditions);
  return out;
}

std::optional<secret_ref> parse_secret_ref(k8s::wire_value ref) {
  if (!ref.present()) return std::nullopt;
  const auto [name, ns] = ref.fields("name", "namespace");
  secret_ref out;
  out.name = name.text();
  out.ns = ns.text();
  return out;
}

json::object status_patch(const bootc_node_status& from, const bootc_node_status& to) {
  json::object status;
  if (from.observed_generation != to.observed_generation)
    status["observedGeneration"] = to.observed_generation;
  if (from.booted != to.booted) status["booted"] = write_image(to.booted);
  if (from.staged != to.staged) status["staged"] = write_image(to.staged);
  if (from.rollback != to.rollback) status["rollback"] = write_image(to.rollback);
  if (from.conditions != to.conditions)
    status["conditions"] = k8s::conditions_to_json(to.conditions);
  if (status.empty()) return {};
  json::object patch;
  patch["status"] = std::move(status);
  return patch;
}

}  // namespace bootc
