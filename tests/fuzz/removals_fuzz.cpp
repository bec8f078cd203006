#include "helm/removals/findings.hpp"
#include "helm/removals/waivers.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

/// One line of metrics, an object's metadata, or a file of waivers: whatever they say, a row names
/// a cluster and an API that goes by then.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace helm::removals;
  constexpr int minor = 25;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  findings all(minor, 8);
  if (const auto asked = read_request(text))
    if (auto row = of_request("prod", *asked, minor)) all.add(std::move(*row));
  (void)read_waivers(text, "waivers");
  boost::system::error_code wrong;
  const boost::json::value v = boost::json::parse(text, wrong);
  if (!wrong && v.is_object()) {
    const boost::json::object& o = v.get_object();
    for (const seen_object& one : of_managers(o, "PodDisruptionBudget", minor))
      all.add("prod", one);
    for (const seen_object& one : of_manifest({&o, 1}, {}, "shop", "record")) all.add("prod", one);
    for (finding& one : of_definition("prod", o)) all.add(std::move(one));
    for (const webhook_service& s : services_of(o))
      all.add(of_missing_service("prod", "CustomResourceDefinition", "v1", o, s));
  }
  for (const finding& row : all.rows())
    if (row.cluster != "prod" || row.removed_in > minor || row.message().empty()) std::abort();
  return 0;
}
