#pragma once

#include "reactor/plain/inflate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// How the bytes are made: no reader cares, but digests and who compares archives do.
struct gzip_form {
  enum class effort : std::uint8_t { usual, most } how = effort::usual;
  std::string comment;  // in the header, which then names no system, as Go's does not
};
/// One member.
std::string gzip(std::string_view bytes, const gzip_form& form = {});

/// Why there are no more bytes.
enum class gzip_trouble : std::uint8_t { none, cut, too_big, damaged };

/// Unpacks gzip as it is asked for, so that a bomb is noticed before it is held. What follows the
/// last member is not read. Lifetime views the packed bytes.
class gzip_reader {
public:
  gzip_reader(std::string_view packed, std::uint64_t limit_bytes)
      : rest_(packed), limit_bytes_(limit_bytes) {}

  /// Fills n bytes, or fewer at the end of the text: how many. Nothing when trouble() says why.
  std::optional<std::size_t> read(char* out, std::size_t n);
  gzip_trouble trouble() const noexcept { return trouble_; }

private:
  reactor::inflation inflation_;
  std::string_view rest_;
  std::uint64_t limit_bytes_, total_ = 0;
  gzip_trouble trouble_ = gzip_trouble::none;
  bool ended_ = false;
};

/// The text of the first member, or why there is none.
struct unpacked {
  std::string text;
  gzip_trouble trouble = gzip_trouble::none;
};
unpacked gunzip(std::string_view packed, std::size_t limit_bytes);

}  // namespace formats
