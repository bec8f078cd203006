#include "helm/tenants/desired/values.hpp"

#include "formats/yaml/reader.hpp"
#include "helm/values/values.hpp"

namespace helm::tenants {

outcome<value> desired_values(const values_layers& layers) {
  value out{value::map_type{}};
  if (layers.install_crds) out.entries()["installCRDs"] = value(true).box();
  for (const values_file& file : layers.files) {
    auto read = read_go_yaml(file.text);
    if (!read) return problem{"chart values: " + file.path + ": " + read.error().text};
    if (read->is_nil()) continue;
    if (!read->is_any_map())
      return problem{"chart values: " + file.path + ": must be a map, is " +
                     std::string(json_kind(*read))};
    merge_maps(out, *read);
  }
  return out;
}

}  // namespace helm::tenants
