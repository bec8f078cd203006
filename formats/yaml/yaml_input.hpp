#pragma once

#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>

struct yaml_parser_s;  // libyaml's yaml_parser_t

namespace formats {

/// A YAML text as libyaml has to be given it to read what go-yaml's scanner reads, and to refuse
/// what that refuses. A colon before a bracket, an escaped apostrophe and a byte order mark inside
/// the text, which libyaml refuses or drops, are private characters meanwhile; `written` turns them
/// back.
/// Lifetime views the text. What it holds of it, which may be a kubeconfig, is wiped.
class yaml_input {
public:
  explicit yaml_input(std::string_view all);
  yaml_input(const yaml_input&) = delete;
  yaml_input& operator=(const yaml_input&) = delete;

  std::string_view text() const { return changed_ ? std::string_view(own_) : given_; }
  /// After libyaml refused the text: changes what it stopped at, for another reading from the
  /// beginning. False if go-yaml refuses the text as well, or after the hundredth change.
  bool mend(const yaml_parser_s& refused);
  /// A scalar as it was written. Lifetime: views the scalar, or `room`.
  std::string_view written(std::string_view scalar, reactor::wiped_string& room) const;

private:
  void replace(std::size_t at, std::size_t size, std::string_view by);
  /// Changes the escape \/ and the version 1.2, which libyaml takes and go-yaml does not, to some
  /// that libyaml refuses in go-yaml's words, and the comma of a tag between brackets, which
  /// belongs to the tag there, to a letter.
  void spoil_what_go_refuses();
  std::size_t byte_of(std::size_t character) const;
  /// A private character that is not in the text.
  std::string unused();

  std::string_view given_;
  reactor::wiped_string own_;
  bool changed_ = false;
  int mends_ = 0;
  std::size_t taken_ = 0;  // private characters that were looked at
  std::string colon_, nothing_, mark_;
};

/// Thrown inside a reader whose input was mended.
struct yaml_read_again {};

/// What `read` makes of a text, called again for as long as the input is mended.
template <class Read>
auto read_as_go_yaml(std::string_view text, Read read) {
  yaml_input in(text);
  for (;;) {
    try {
      return read(in);
    } catch (const yaml_read_again&) {
      continue;
    }
  }
}

}  // namespace formats
