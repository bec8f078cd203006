#include "helm/objects/three_way_merge.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_merge.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// A line each: the former manifest, the next one, the live object. The patch between them is made
/// and applied, and each line is applied to the next as if it were a patch.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = boost::json;
  static const k8s::merge_type* type = k8s::merge_type_of("apps/v1", "Deployment");
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<json::object> documents;
  while (documents.size() < 3) {
    boost::system::error_code bad;
    json::value one = json::parse(text.substr(0, text.find('\n')), bad);
    if (bad || !one.is_object()) return 0;
    documents.push_back(std::move(one.get_object()));
    const auto end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  const helm::objects::three_states states{documents[0], documents[1], documents[2]};
  auto patch = helm::objects::strategic_three_way_patch(states, *type);
  if (patch) static_cast<void>(k8s::apply_strategic_patch(documents[2], *patch, *type));
  static_cast<void>(k8s::apply_strategic_patch(documents[2], documents[1], *type));
  static_cast<void>(k8s::join_strategic_patches(documents[0], documents[1], *type));
  static_cast<void>(helm::objects::json_three_way_patch(states));
  return 0;
}
