#include "helm/values/render_values.hpp"

#include "helm/values/check_schemas.hpp"
#include "helm/values/dependencies.hpp"

namespace helm {

outcome<value> values_to_render(chart& tree, const value& user, schema_check check,
                                const warning_sink& warn) {
  if (auto done = process_dependencies(tree, user, warn); !done) return done.error();
  auto values = coalesce_values(tree, user, nulls::remove, warn);
  if (!values || check == schema_check::skipped) return values;
  if (auto valid = check_schemas(tree, *values); !valid) return valid.error();
  return values;
}

}  // namespace helm
