#include "formats/json/record.hpp"

#include <optional>

namespace formats {
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

}  // namespace formats
