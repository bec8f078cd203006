#pragma once

#include "cli/arguments.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Two-space indented JSON with numbers as people write them (371.5, not 3.715E2), ending in a newline.
std::string pretty_json(const boost::json::value& v);
/// The value as JSON or YAML text.
std::string machine_text(const boost::json::value& v, output_format format);

/// Whether to use colours and redraw on this file descriptor: a terminal, and NO_COLOR is not set.
bool is_lively(int fd);

enum class tone { plain, good, busy, bad, faint };
/// `text` in a colour, or as it is when not `lively`.
std::string toned(std::string_view text, tone t, bool lively);

/// Digests ("sha256:" and 64 digits) cut to twelve digits, for a person's eyes.
std::string with_short_digests(std::string_view text);

/// Columns padded to their widest cell, two spaces apart, as kubectl prints. Cells may carry colours.
class table {
public:
  explicit table(std::vector<std::string> head);
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text(std::string_view indent = {}) const;

private:
  std::vector<std::vector<std::string>> rows_;
};

/// Writes all of it; false when the reader is gone or the disk is full.
bool write_out(int fd, std::string_view text);

}  // namespace cli
