#pragma once

#include <string>

namespace k8s {

/// A self-signed certificate and its key, made on the spot.
struct pem_pair {
  std::string certificate, key;
};
/// Validity counts in days from `base` (seconds since the epoch).
pem_pair make_pem_pair(const std::string& name, long base, int valid_from_day, int valid_to_day);

/// A file in a folder of its own that goes with the test.
class temporary_folder {
public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  /// Writes the file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

}  // namespace k8s
