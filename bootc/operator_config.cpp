#include "bootc/operator_config.hpp"

#include "bootc/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <vector>

namespace bootc {
namespace {

namespace json = boost::json;

/// `from`[key], or null where there is none or `from` is none.
const json::value* field_of(const json::value* from, std::string_view key) noexcept {
  return from && from->is_object() ? from->get_object().if_contains(key) : nullptr;
}

/// The schema has made sure that it is there and above zero; one that is not says nothing.
void take_seconds(const json::value* from, reactor::nanoseconds& into) {
  if (from && from->is_int64() && from->get_int64() > 0)
    into = std::chrono::seconds(from->get_int64());
}

operator_config config_in(const json::value& object) {
  operator_config out;
  if (const json::value* name = field_of(field_of(&object, "metadata"), "name");
      name && name->is_string())
    out.name = name->get_string();
  const json::value* spec = field_of(&object, "spec");
  const json::value* controller = field_of(spec, "controller");
  if (const json::value* v = field_of(controller, "allowInsecureRegistry"); v && v->is_bool())
    out.allow_insecure_registry = v->get_bool();
  take_seconds(field_of(controller, "tagResolutionPeriodSeconds"), out.tag_resolution_period);
  take_seconds(field_of(field_of(spec, "daemon"), "statusPollPeriodSeconds"),
               out.status_poll_period);
  return out;
}

/// Enough to name.
constexpr std::size_t most_listed = 20;

}  // namespace

const k8s::resource& operator_configs() {
  static const k8s::resource r{std::string(names::group), std::string(names::version),
                               "bootcoperatorconfigs", "BootcOperatorConfig", false};
  return r;
}

reactor::awaitable<k8s::result<operator_config>> load_operator_config(k8s::client& api) {
  k8s::list_options all;
  all.limit = most_listed;
  auto page = co_await api.list(operator_configs(), std::move(all));
  if (!page) {
    if (page.error().code == k8s::errc::not_found) co_return operator_config();
    co_return page.error();
  }
  const json::array* items = k8s::items_of(*page);
  if (!items || items->empty()) co_return operator_config();
  if (items->size() == 1) co_return config_in(items->front());
  std::vector<std::string> found;
  for (const json::value& item : *items) found.push_back(config_in(item).name);
  std::ranges::sort(found);
  k8s::fault several;
  several.code = k8s::errc::invalid;
  several.doing = "read the BootcOperatorConfig";
  several.detail = "at most one is allowed, found";
  for (const std::string& name : found)
    several.detail += (name == found.front() ? " " : ", ") + name;
  co_return several;
}

}  // namespace bootc
