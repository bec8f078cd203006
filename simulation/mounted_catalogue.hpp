#pragma once

#include "reactor/system/private_folder.hpp"

#include <string>
#include <string_view>

namespace simulation {

/// The stock pack's catalogue of Trustee releases in a folder, as an operator mounts it, and edits
/// of it, each at once as a mount changes. Blocks on files.
class mounted_catalogue {
public:
  mounted_catalogue();
  const std::string& path() const { return folder_.path(); }

  static constexpr std::string_view first_registry = "ghcr.io",
                                    other_registry = "mirror.example.com";
  /// The same releases with images of that registry.
  void move_to(std::string_view registry);
  /// What is no readable catalogue.
  void damage();

private:
  void put(std::string_view name, std::string_view text) const;
  reactor::private_folder folder_;
  std::string releases_;  // versions.json of the first registry
};

}  // namespace simulation
