#pragma once

#include <cstdint>
#include <string_view>

namespace formats {

/// What a plain scalar stands for by go-yaml v2's rules. Nothing of its text is copied: it may be a
/// password.
struct plain_scalar {
  enum class kind : std::uint8_t { text, timestamp, null, boolean, int64, uint64, real };
  kind is = kind::text;  // a timestamp stays text, but is not tried as anything else
  bool truth = false;
  std::int64_t number = 0;  // of uint64: its bits
  double real = 0;          // may be infinite or no number
};

enum class yaml_dates : std::uint8_t { told_apart, just_text };

plain_scalar resolve_plain_scalar(std::string_view text, yaml_dates dates = yaml_dates::told_apart);

/// Whether a plain scalar with this text would be read back as text by us.
bool reads_as_text(std::string_view text);

/// Whether go-yaml quotes a text because it resolves to something else, a date for example.
bool reads_as_non_string(std::string_view text);

}  // namespace formats
