#pragma once

#include "bootc/kinds/conditions.hpp"
#include "k8s/client/condition.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

using k8s::condition;

const k8s::resource& bootc_nodes();

/// One deployment slot of a host, as the daemon reports it.
struct image_info {
  std::string image, digest;
  std::string version, timestamp, architecture;
  bool soft_reboot_capable = false;
  bool incompatible = false;
  friend bool operator==(const image_info&, const image_info&) = default;
};

/// Whether an entry is the image that carries `digest`. A host records the platform manifest's
/// digest, while a reference to a multi-arch image names the index; both count, or such an image
/// would never be reached.
bool is_image(const image_info& entry, std::string_view digest) noexcept;

struct secret_ref {
  std::string name, ns;
  friend bool operator==(const secret_ref&, const secret_ref&) = default;
};

/// Nothing when absent.
std::optional<secret_ref> parse_secret_ref(k8s::wire_value ref);

enum class image_state { unset, staged, booted };
std::string_view text(image_state s) noexcept;
image_state parse_image_state(std::string_view text) noexcept;

struct bootc_node_spec {
  std::string desired_image;
  image_state desired_state = image_state::unset;
  std::optional<secret_ref> pull_secret;
  std::string pull_secret_hash;
  /// What a newer controller asks for and this program does not know: "spec.field, …", cut at 200
  /// characters; empty: it knows everything.
  std::string unknown;
  friend bool operator==(const bootc_node_spec&, const bootc_node_spec&) = default;
};

struct bootc_node_status {
  std::int64_t observed_generation = 0;
  std::optional<image_info> booted, staged, rollback;
  std::vector<condition> conditions;
  friend bool operator==(const bootc_node_status&, const bootc_node_status&) = default;
};

/// BootcNode: what one node is to run (spec, the controller's) and does run (status, the daemon's).
struct bootc_node {
  k8s::object_meta meta;
  bootc_node_spec spec;
  bootc_node_status status;

  static bootc_node parse(k8s::wire_value object);
  bool in_slot() const;
  /// The annotation's value, or nothing.
  std::optional<std::string_view> annotation(std::string_view key) const;
  friend bool operator==(const bootc_node&, const bootc_node&) = default;
};

/// The merge patch {"status": …} that turns `from` into `to`; fields that are gone become null.
/// Empty when equal.
boost::json::object status_patch(const bootc_node_status& from, const bootc_node_status& to);

}  // namespace bootc
