// Discovery documents of a server: two texts, one a line each, as /api and /apis, and the second as
// an APIResourceList.
#include "formats/json/values.hpp"
#include "k8s/client/discovery.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

namespace {

boost::json::value parsed(std::string_view text) {
  boost::system::error_code error;
  boost::json::parse_options limits;
  limits.max_depth = 64;
  return boost::json::parse(text, error, {}, limits);
}

std::size_t values_of(const boost::json::value& v) {
  std::size_t n = 1;
  if (const auto* array = v.if_array())
    for (const auto& one : *array) n += values_of(one);
  if (const auto* object = v.if_object())
    for (const auto& member : *object) n += 1 + values_of(member.value());
  return n;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string_view rest = all.substr(std::min(end + 1, all.size()));
  const boost::json::value api = parsed(all.substr(0, end)), apis = parsed(rest);
  // A document never has more values than were counted, or limits on them would not hold.
  if (!apis.is_null()) expect(values_of(apis) <= formats::json_values_in(rest));
  if (const auto versions = k8s::api_versions_in(api, apis)) {
    const std::set<std::string> once(versions->begin(), versions->end());
    expect(once.size() == versions->size() && !once.contains(""));
    expect(versions->size() <= k8s::discovery::most_api_versions);
  }
  if (const auto resources = k8s::resources_in("g/v1", apis)) {
    expect(resources->size() <= k8s::discovery::most_resources);
    for (const k8s::resource& r : *resources) {
      const auto path = r.object_path("ns", "name");
      expect(!path || (path->find("/../") == path->npos && path->find("//") == path->npos));
    }
  }
  return 0;
}
