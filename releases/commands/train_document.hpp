#pragma once

#include "formats/yaml/places.hpp"
#include "policies/host/value.hpp"
#include "releases/rules/finding.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace cli {

/// A train document with the files of facts that belong to it, and where each thing stands.
class train_document {
public:
  /// Errors   errc::malformed: no train document. The first text is the document, later ones are
  ///          facts: each of their lists goes behind the document's.
  reactor::result<void> add(std::string text, std::string file);
  /// What the train before had: a pin that does not say itself what it `was` gets it as `former`.
  void add_former(const policies::value& former);

  policies::value& content() { return content_; }
  const policies::value& content() const { return content_; }
  /// Findings about the document's own form say in which line it is wrong.
  void add_lines(std::vector<policies::releases::finding>& findings) const;

private:
  struct source {
    std::string file, text;
    formats::yaml_place root;
  };
  /// "FILE:LINE" of a place such as "pins[3].value" or "steps[gc-tag].needs"; empty if none is
  /// there.
  std::string line_of(std::string_view place) const;
  policies::value content_;
  std::vector<source> sources_;
};

/// What a person calls a pin: "Kata/Trustee.version".
std::string pin_key(const policies::value& pin);

/// Reads `file`; where there is no such file, the train of that name that comes with the program.
reactor::awaitable<reactor::result<std::string>> train_text(reactor::loop& l, std::string file);

}  // namespace cli
