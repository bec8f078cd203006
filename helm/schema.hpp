#pragma once

#include "helm/chart.hpp"
#include "helm/problem.hpp"
#include "helm/value.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// A compiled values.schema.json, drafts 4 to 2020-12. References that leave the document are refused.
class json_schema {
public:
  static outcome<json_schema> compile(std::string_view text);
  /// The reasons why `v` is not valid, as indented lines; empty when it is.
  std::string check(const value& v) const;

private:
  struct document;
  std::shared_ptr<const document> document_;
};

/// What `chart::compiled` points to: the outcome of compiling, once somebody asked.
struct schema_memo {
  std::optional<outcome<json_schema>> compiled;
};

/// Checks the coalesced values of a chart and of its subcharts against their schemas.
/// Errors   "values don't meet the specifications of the schema(s) in the following chart(s):\n…"
outcome<bool> check_schemas(const chart& c, const value& values);

}  // namespace helm
