#include "bootc/daemon/host_status.hpp"

#include "k8s/client/wire.hpp"
#include "reactor/plain/time.hpp"

namespace bootc {
namespace {

reactor::fault wrong(std::string_view detail) {
  return reactor::make_fault(reactor::errc::malformed, "parse bootc status", detail);
}

/// The value of a key that must be there.
k8s::wire_value required(k8s::wire_value object, std::string_view key, std::string_view where) {
  const auto value = object[key];
  if (!value.present()) object.refuse(std::string(where) + " has no " + std::string(key));
  return value;
}

/// Whole seconds, as the API wants them; bootc prints fractions of images that carry them.
std::string whole_seconds(std::string_view timestamp) {
  if (timestamp.empty()) return {};
  auto parsed = reactor::parse_rfc3339(timestamp);
  return parsed ? reactor::format_rfc3339(*parsed) : std::string();
}

std::optional<host_image> read_image(k8s::wire_value status) {
  if (!status.present()) return std::nullopt;
  host_image out;
  const auto reference = required(status, "image", "an image status");
  out.image = required(reference, "image", "an image reference").text();
  out.transport = required(reference, "transport", "an image reference").text();
  out.digest = required(status, "imageDigest", "an image status").text();
  out.architecture = required(status, "architecture", "an image status").text();
  out.version = status["version"].text();
  out.timestamp = whole_seconds(status["timestamp"].text());
  return out;
}

std::optional<host_entry> read_entry(k8s::wire_value entry) {
  if (!entry.present()) return std::nullopt;
  host_entry out;
  out.image = read_image(entry["image"]);
  out.incompatible = required(entry, "incompatible", "a deployment").boolean();
  out.pinned = required(entry, "pinned", "a deployment").boolean();
  out.soft_reboot_capable = entry["softRebootCapable"].boolean();
  out.download_only = entry["downloadOnly"].boolean();
  out.composefs = entry["composefs"].present();
  return out;
}

}  // namespace

reactor::result<host_status> parse_host_status(std::string_view json) {
  auto& parser = k8s::shared_parser();
  auto document = parser.parse(json);
  if (!document) return wrong(document.error().detail);
  if (document->kind() != k8s::wire_kind::object) return wrong("it is not an object");
  const auto api = (*document)["apiVersion"].text();
  const auto kind = (*document)["kind"].text();
  if (!parser.problem() && kind != "BootcHost")
    return wrong("kind is \"" + std::string(kind) + "\" instead of BootcHost");
  if (!parser.problem() && api != "org.containers.bootc/v1" &&
      api != "org.containers.bootc/v1alpha1")
    return wrong("apiVersion \"" + std::string(api) + "\" is not known");
  host_status out;
  const auto status = (*document)["status"];
  out.staged = read_entry(status["staged"]);
  out.booted = read_entry(status["booted"]);
  out.rollback = read_entry(status["rollback"]);
  out.rollback_queued = status["rollbackQueued"].boolean();
  out.read_only = status["readOnly"].boolean();
  out.type = status["type"].text();
  if (parser.problem()) return wrong(*parser.problem());
  return out;
}

std::optional<image_info> published(const std::optional<host_entry>& entry) {
  if (!entry || !entry->image) return std::nullopt;
  const host_image& i = *entry->image;
  image_info out;
  out.image = i.transport == "registry" ? i.image : i.transport + ":" + i.image;
  out.digest = i.digest;
  out.version = i.version;
  out.timestamp = i.timestamp;
  out.architecture = i.architecture;
  out.incompatible = entry->incompatible;
  out.soft_reboot_capable = entry->soft_reboot_capable;
  return out;
}

}  // namespace bootc
