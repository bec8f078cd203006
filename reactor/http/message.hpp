#pragma once

#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reactor::http {

/// Equal without regard to the case of ASCII letters.
bool same_name(std::string_view a, std::string_view b) noexcept;

/// Header fields in the order they were added; names compare without regard to case.
class headers {
public:
  headers() = default;
  headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  /// Replaces every field of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);
  /// The first field's value, or empty. Views this object.
  std::string_view get(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept;

  auto begin() const noexcept { return fields_.begin(); }
  auto end() const noexcept { return fields_.end(); }
  std::size_t size() const noexcept { return fields_.size(); }

private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct request {
  std::string method = "GET";
  std::string target = "/";  // origin form: path and query, already percent-encoded
  headers fields;
  std::string body;
  secret authorization = {};  // the field's value; goes onto the wire and into no other text
  /// A stream's answer goes on for as long as both sides like, as a watch's does.
  enum class lasts : std::uint8_t { a_moment, as_a_stream } answer = lasts::a_moment;
};

/// A response whose body is at hand.
struct response {
  int status = 200;
  headers fields;
  std::string body;
};

struct response_head {
  int status = 0;
  headers fields;
};

/// "/api?watch=1&x=a%20b" → path, still encoded, and decoded query parameters in order.
struct target_parts {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
  /// The first value of that name.
  std::optional<std::string> get(std::string_view name) const;
};
target_parts split_target(std::string_view target);
/// Percent-encodes everything but unreserved characters.
std::string encode_component(std::string_view text);
/// The inverse; a '%' without two digits stays as it is.
std::string decode_component(std::string_view text);

}  // namespace reactor::http
