#pragma once

#include <string>
#include <string_view>

namespace reactor {

/// A folder under the system's temporary one that only we may look into. It goes with this object,
/// and all that is in it.
class private_folder {
public:
  /// "windlass-NAME-…". Errors: path() is empty, and errno says why.
  explicit private_folder(std::string_view name);
  ~private_folder();
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;
  const std::string& path() const noexcept { return path_; }
  /// It stays when we go.
  void keep() noexcept { kept_ = true; }

private:
  std::string path_;
  bool kept_ = false;
};

}  // namespace reactor
