#include "helm/sources/record.hpp"

#include "helm/render_context.hpp"

#include <optional>

namespace helm::sources {
namespace {

using members = std::vector<std::pair<std::string, value>>;

class ordered final : public object {
public:
  explicit ordered(members m) : members_(std::move(m)) {}
  std::string type_name() const override { return "struct"; }
  members fields() const override { return members_; }
  std::optional<members> json_fields() const override { return members_; }

private:
  members members_;
};

}  // namespace

value record(members m) {
  return value::object(new ordered(std::move(m)));
}

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
