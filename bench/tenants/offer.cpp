#include "bench/tenants/offer.hpp"

#include "formats/yaml/yaml.hpp"
#include "helm/charts/chart.hpp"
#include "helm/render/prepared_chart.hpp"
#include "helm/sources/archive.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"

#include <boost/json.hpp>

#include <stdexcept>
#include <vector>

namespace bench {
namespace {

namespace json = boost::json;

/// Seven of these, an account, and what it may do; or one.
std::vector<helm::chart_file> objects_of(const std::string& chart) {
  std::vector<helm::chart_file> out;
  const std::size_t maps = chart == "ten" ? 7 : 1;
  for (std::size_t i = 0; i < maps; ++i) {
    const std::string number = std::to_string(i);
    out.push_back({"templates/map-" + number + ".yaml",
                   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-" +
                       number +
                       "\n  labels:\n    app.kubernetes.io/instance: {{ .Release.Name }}\ndata:\n"
                       "  level: {{ .Values.level | quote }}\n  of: {{ .Release.Namespace }}\n"});
  }
  if (chart != "ten") return out;
  constexpr const char* access = R"(apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .Release.Name }}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .Release.Name }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .Release.Name }}
subjects:
- kind: ServiceAccount
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
)";
  out.push_back({"templates/access.yaml", access});
  return out;
}

helm::chart_ptr made(const std::string& chart) {
  std::vector<helm::chart_file> files = objects_of(chart);
  files.push_back({"Chart.yaml",
                   "apiVersion: v2\nname: " + chart + "\nversion: " + chart_offer::version + "\n"});
  files.push_back({"values.yaml", "level: info\n"});
  std::vector<std::string> notes;
  auto loaded = helm::load_files(std::move(files), notes);
  if (!loaded) throw std::runtime_error(loaded.error().text);
  return *loaded;
}

std::string packed(const std::string& chart) {
  auto archive = helm::sources::pack_chart(*made(chart), 1'700'000'000);
  if (!archive) throw std::runtime_error(archive.error().text);
  return *archive;
}

}  // namespace

chart_offer::chart_offer() : index_("apiVersion: v1\nentries:\n") {
  for (const std::string chart : {"one", "ten"}) {
    archives_[chart] = packed(chart);
    index_ += "  " + chart + ":\n  - {apiVersion: v2, name: " + chart + ", version: " + version +
              ", urls: [" + chart + ".tgz]}\n";
  }
}

std::shared_ptr<helm::prepared_chart> chart_offer::prepared(const std::string& chart) {
  return std::make_shared<helm::prepared_chart>(made(chart));
}

std::optional<k8s::sim::answer> chart_offer::answer(const k8s::sim::request& r) const {
  constexpr std::string_view below = "/charts/";
  if (!r.path.starts_with(below)) return std::nullopt;
  k8s::sim::answer out;
  const std::string what = r.path.substr(below.size());
  if (what == "index.yaml") {
    out.content_type = "application/yaml";
    out.body = index_;
    return out;
  }
  for (const auto& [chart, archive] : archives_)
    if (what == chart + ".tgz") {
      out.content_type = "application/gzip";
      out.body = archive;
      return out;
    }
  out.status = 404;
  return out;
}

void furnish(k8s::sim::api_server& api, std::size_t tenants) {
  for (const char* ns : {"default", "kube-system"}) {
    json::object o{{"apiVersion", "v1"}, {"kind", "Namespace"}};
    o["metadata"] = json::object{{"name", ns}};
    api.put(std::move(o));
  }
  for (const std::string& crd : helm::tenants::crd_manifests()) {
    auto read = formats::parse_kubernetes_yaml(crd, "crd");
    if (!read) throw std::runtime_error(read.error().message());
    api.put(read->as_object());
  }
  for (std::size_t i = 0; i < tenants; ++i) {
    json::object o{{"apiVersion", "mesh.openkcm.io/v1alpha1"}, {"kind", "Tenant"}};
    o["metadata"] = json::object{{"name", "t-" + std::to_string(i)}, {"namespace", "default"}};
    o["spec"] = json::object();
    api.put(std::move(o));
  }
}

}  // namespace bench
