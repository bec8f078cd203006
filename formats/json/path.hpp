#pragma once

#include "reactor/plain/result.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// A JSONPath template as kubectl has it: text, and actions in braces with fields, indices, slices,
/// unions, filters, `..`, quoted text and {range}…{end}. A key that is missing is no error.
/// Limits   64 KiB of template, 100 levels of filters; a result of at most 64 MiB and a million
///          values.
/// Source   Kubernetes "JSONPath Support"; a test holds the answers of kubectl 1.36.
class json_path {
public:
  /// Errors: kubectl's sentence, "unclosed action".
  static reactor::result<json_path, std::string> parse(std::string_view text);
  /// One path as --sort-by and custom-columns take it: `name`, `.name`, `{name}` or `{.name}`.
  static reactor::result<json_path, std::string> parse_relaxed(std::string_view text);

  /// Whole numbers are int64 to kubectl, which reads JSON, and float64 to who reads YAML as Helm
  /// does: 10000000 and 1e+07. Within objects and lists there is no difference.
  enum class numbers : bool { typed, all_float };
  /// The template's text for `root`: values of one action with a space between them, objects and
  /// lists as JSON. Errors: a sentence, "array index out of bounds: index 9, length 3".
  reactor::result<std::string, std::string> text(const boost::json::value& root,
                                                 numbers are = numbers::typed) const;
  /// What the paths of the template find. Lifetime: views of `root` and of this.
  reactor::result<std::vector<const boost::json::value*>, std::string> find(
      const boost::json::value& root) const;

  struct node;

private:
  std::vector<std::shared_ptr<const node>> nodes_;
};

/// One value that a path found, as kubectl's custom-columns show it: map[a:1 b:2], [1 2], <none>.
std::string cell_text(const boost::json::value& v);

}  // namespace formats
