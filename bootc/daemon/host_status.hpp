#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "reactor/plain/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bootc {

struct host_image {
  std::string image;      // as given to bootc: by tag, by digest, or a path
  std::string transport;  // "registry", "oci", "containers-storage", …
  std::string digest;     // of the platform's manifest
  std::string architecture, version;
  std::string timestamp;  // RFC 3339, whole seconds; empty when unknown
  friend bool operator==(const host_image&, const host_image&) = default;
};

/// One deployment. `image` is absent for one that bootc cannot describe: layered packages, or plain
/// ostree.
struct host_entry {
  std::optional<host_image> image;
  bool incompatible = false, pinned = false;
  bool soft_reboot_capable = false;
  bool download_only = false;  // locked: no reboot applies it until it is unlocked
  bool composefs = false;
  friend bool operator==(const host_entry&, const host_entry&) = default;
};

/// What `bootc status --json --format-version=1` says.
struct host_status {
  std::optional<host_entry> staged, booted, rollback;
  bool rollback_queued = false;
  bool read_only = false;  // updates are impossible
  std::string type;        // "bootcHost" or empty

  bool composefs() const noexcept { return booted && booted->composefs; }
  friend bool operator==(const host_status&, const host_status&) = default;
};

/// Accepts org.containers.bootc/v1 and v1alpha1; unknown keys are ignored, optional ones take their
/// defaults.
/// Errors: errc::malformed; `detail` names what is wrong with the document.
/// Source: the status schema of bootc 1.16.
reactor::result<host_status> parse_host_status(std::string_view json);

/// As it is published: nothing when there is no entry or no image in it. An image from elsewhere
/// than a registry keeps its transport as a prefix ("oci:/var/os"), or it could not be told from a
/// registry's.
std::optional<image_info> published(const std::optional<host_entry>& entry);

}  // namespace bootc
