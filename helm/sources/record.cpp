#include "helm/sources/record.hpp"

#include "helm/render/render_context.hpp"

namespace helm::sources {

value metadata_value(const metadata& m) {
  chart c;
  c.meta = m;
  return *chart_value(c, true).object()->field("Metadata");
}

value dependencies_value(std::vector<std::shared_ptr<dependency>> dependencies) {
  metadata m;
  m.dependencies = std::move(dependencies);
  return *metadata_value(m).object()->field("Dependencies");
}

}  // namespace helm::sources
