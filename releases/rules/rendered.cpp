#include "releases/rules/rendered.hpp"

#include "formats/digest.hpp"
#include "formats/json/member.hpp"
#include "formats/yaml/yaml.hpp"

#include <boost/json.hpp>

namespace policies::releases {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;

constexpr std::size_t most_rendered_bytes = 8 * 1024 * 1024, most_rendered_objects = 5'000;

}  // namespace

reactor::result<rendered_chart> read_rendered(std::string_view text, std::string file) {
  const std::string doing = "read " + file;
  formats::yaml_limits limits;
  limits.bytes = most_rendered_bytes;
  limits.documents = most_rendered_objects;
  auto documents = formats::parse_kubernetes_documents(text, doing, limits);
  if (!documents) return documents.error();
  rendered_chart chart;
  chart.file = std::move(file);
  for (std::size_t i = 0; i < documents->size(); ++i) {
    json::value& one = (*documents)[i];
    const auto wrong = [&](const char* what) {
      return make_fault(errc::malformed, doing, "document " + std::to_string(i + 1) + ": " + what);
    };
    if (!one.is_object()) return wrong("expected an object of Kubernetes");
    json::object& o = one.get_object();
    rendered_object r;
    r.kind = formats::text_member(o, "kind");
    if (r.kind.empty()) return wrong("kind is missing");
    if (const json::value* m = o.if_contains("metadata"); m != nullptr && m->is_object())
      r.name = formats::text_member(m->get_object(), "name");
    if (r.name.empty()) return wrong("metadata.name is missing");
    o.erase("metadata");
    r.digest = formats::sha256_hex(formats::write_kubernetes_yaml(one));
    chart.objects.push_back(std::move(r));
  }
  return chart;
}

}  // namespace policies::releases
