#pragma once

#include "helm/go.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

namespace schemas {
class library;
}

/// A compiled values.schema.json, drafts 4 to 2020-12. Nothing is read for it: a reference to a
/// file or to the network is an error, one to json-schema.org is known, and one to a urn: holds for
/// everything, as in Helm.
class json_schema {
public:
  /// Errors   in the words of Helm's compiler, complete: "… is not valid against metaschema: …",
  ///          "failing loading …".
  static outcome<json_schema> compile(std::string_view text);
  /// The reasons why `v` is not valid, as indented lines; empty when it is.
  std::string check(const value& v) const;

private:
  std::shared_ptr<const schemas::library> compiled_;
};

/// What `chart::compiled` points to: the outcome of compiling, after the first question.
struct schema_memo {
  std::optional<outcome<json_schema>> compiled;
};

}  // namespace helm
