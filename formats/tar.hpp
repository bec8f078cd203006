#pragma once

#include "formats/gzip.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace formats {

inline constexpr std::size_t tar_block_bytes = 512;

struct tar_entry {
  std::string name;
  char kind = '0';  // POSIX typeflag; '0' = a file
  std::uint64_t size_bytes = 0;
};

/// Reads the entries of a gzipped tar; extended names (pax and GNU) are folded into the entry they
/// belong to. Lifetime views the packed bytes.
class tar_reader {
public:
  /// `limit_bytes` for all that comes out of the compression: bodies, headers, padding and extended
  /// names.
  tar_reader(std::string_view gzipped, std::uint64_t limit_bytes) : in_(gzipped, limit_bytes) {}

  enum class step : std::uint8_t { entry, end, failed };
  step next(tar_entry& to);
  /// The body of the entry that came last; call it before the next one. False when it is cut short.
  bool read_body(std::uint64_t size_bytes, std::string& out);

  /// Why the last step failed: gzip_trouble::damaged for what is no tar, too.
  gzip_trouble trouble() const noexcept { return trouble_; }

private:
  struct extended;
  static bool read_pax(std::string_view body, extended& to);
  step failed(gzip_trouble otherwise);

  gzip_reader in_;
  gzip_trouble trouble_ = gzip_trouble::none;
};

/// Writes a tar of regular files, mode 0644, owned by root; `modified` is the time of every entry,
/// in seconds since 1970.
class tar_writer {
public:
  explicit tar_writer(std::int64_t modified) : modified_(modified) {}
  void file(const std::string& name, std::string_view data);
  std::string finish() &&;

private:
  std::int64_t modified_;
  std::string out_;
};

}  // namespace formats
