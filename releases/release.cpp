#include "releases/release.hpp"

#include "k8s/client/wire.hpp"
#include "releases/names.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace releases {

const k8s::resource& collection() {
  static const k8s::resource r{std::string(names::group), std::string(names::version), "releases",
                               "Release", false};
  return r;
}

namespace {
const k8s::annotation_filter annotations_of_a_release{false, {names::conditions}};
}  // namespace

release release::parse(k8s::wire_value object) {
  release out;
  out.meta = k8s::parse_meta(object, annotations_of_a_release);
  const auto spec = object["spec"];
  out.document = "{\"apiVersion\":\"" + std::string(names::api_version) +
                 "\",\"kind\":\"Release\",\"metadata\":{\"name\":" +
                 boost::json::serialize(boost::json::value(out.meta.name.str())) +
                 "},\"spec\":" + (spec.present() ? spec.json() : "{}") + "}";
  const auto [conditions, ready, in_use] = object["status"].fields("conditions", "ready", "inUse");
  out.conditions = k8s::parse_conditions(conditions);
  out.ready = ready.boolean();
  out.in_use = in_use.boolean();
  if (const std::string_view kept = out.meta.annotations.get(names::conditions);
      out.conditions.empty() && !kept.empty()) {
    boost::system::error_code wrong;
    const auto list = boost::json::parse(kept, wrong);
    if (!wrong) out.conditions = k8s::conditions_from_json(list);
    out.in_annotation = !out.conditions.empty();
  }
  return out;
}

std::size_t release::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + document.capacity();
  for (const k8s::condition& c : conditions) total += sizeof c + c.message.capacity();
  return total;
}

consent consent::parse(k8s::wire_value object) {
  consent out;
  out.meta = k8s::parse_meta(object);
  out.waivers = object["data"][names::waivers].text();
  return out;
}

}  // namespace releases
