#include "helm/render/manifests.hpp"

#include "formats/plain/deep_stack.hpp"
#include "formats/plain/path.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <array>

namespace helm {
namespace {

constexpr std::array<std::string_view, 36> install_order{"PriorityClass",
                                                         "Namespace",
                                                         "NetworkPolicy",
                                                         "ResourceQuota",
                                                         "LimitRange",
                                                         "PodSecurityPolicy",
                                                         "PodDisruptionBudget",
                                                         "ServiceAccount",
                                                         "Secret",
                                                         "SecretList",
                                                         "ConfigMap",
                                                         "StorageClass",
                                                         "PersistentVolume",
                                                         "PersistentVolumeClaim",
                                                         "CustomResourceDefinition",
                                                         "ClusterRole",
                                                         "ClusterRoleList",
                                                         "ClusterRoleBinding",
                                                         "ClusterRoleBindingList",
                                                         "Role",
                                                         "RoleList",
                                                         "RoleBinding",
                                                         "RoleBindingList",
                                                         "Service",
                                                         "DaemonSet",
                                                         "Pod",
                                                         "ReplicationController",
                                                         "ReplicaSet",
                                                         "Deployment",
                                                         "HorizontalPodAutoscaler",
                                                         "StatefulSet",
                                                         "Job",
                                                         "CronJob",
                                                         "IngressClass",
                                                         "Ingress",
                                                         "APIService"};

constexpr std::array<std::string_view, 36> uninstall_order{"APIService",
                                                           "Ingress",
                                                           "IngressClass",
                                                           "Service",
                                                           "CronJob",
                                                           "Job",
                                                           "StatefulSet",
                                                           "HorizontalPodAutoscaler",
                                                           "Deployment",
                                                           "ReplicaSet",
                                                           "ReplicationController",
                                                           "Pod",
                                                           "DaemonSet",
                                                           "RoleBindingList",
                                                           "RoleBinding",
                                                           "RoleList",
                                                           "Role",
                                                           "ClusterRoleBindingList",
                                                           "ClusterRoleBinding",
                                                           "ClusterRoleList",
                                                           "ClusterRole",
                                                           "CustomResourceDefinition",
                                                           "PersistentVolumeClaim",
                                                           "PersistentVolume",
                                                           "StorageClass",
                                                           "ConfigMap",
                                                           "SecretList",
                                                           "Secret",
                                                           "ServiceAccount",
                                                           "PodDisruptionBudget",
                                                           "PodSecurityPolicy",
                                                           "LimitRange",
                                                           "ResourceQuota",
                                                           "NetworkPolicy",
                                                           "Namespace",
                                                           "PriorityClass"};

constexpr std::uint64_t bytes_per_document = 256;

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/// The head of a document, decoded into Go's struct: what does not fit is an error.
struct manifest_head {
  std::string api_version, kind, name;
  std::map<std::string, std::string> annotations;
};

outcome<manifest_head> read_head(const std::string& text) {
  static constexpr std::array<std::string_view, 3> members{"apiVersion", "kind", "metadata"};
  auto v = read_go_yaml_outline(text, members);
  if (!v) return problem{"error converting YAML to JSON: " + v.error().text};
  manifest_head out;
  if (v->is_nil()) return out;
  auto wrong = [](const value& at, const std::string& where, const char* wanted) {
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(at)) + " into Go " + where + " of type " + wanted};
  };
  if (!v->is_map()) return wrong(*v, "value", "releaseutil.SimpleHead");
  problem first;
  auto note = [&](problem p) {
    if (first.text.empty()) first = std::move(p);
  };
  // Names match in any case when none matches exactly.
  auto find = [](const value& m, std::string_view name) {
    const auto* exact = m.find(name);
    if (exact) return exact;
    for (const auto& [key, item] : m.entries())
      if (equal_fold(key, name)) return &item;
    return static_cast<const value*>(nullptr);
  };
  auto text_member = [&](const value& m, std::string_view name, const std::string& field,
                         std::string& into) {
    const auto* item = find(m, name);
    if (!item || item->is_nil()) return;
    auto s = text_of_scalar(*item);
    if (s.is_string())
      into = s.text();
    else
      note(wrong(*item, "struct field " + field, "string"));
  };
  text_member(*v, "apiVersion", "SimpleHead.apiVersion", out.api_version);
  text_member(*v, "kind", "SimpleHead.kind", out.kind);
  if (const auto* meta = find(*v, "metadata"); meta && !meta->is_nil()) {
    if (!meta->is_map()) {
      note(wrong(*meta, "struct field SimpleHead.metadata",
                 "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string "
                 "\"json:\\\"annotations\\\"\" }"));
    } else {
      text_member(*meta, "name", "SimpleHead.metadata.name", out.name);
      if (const auto* all = find(*meta, "annotations"); all && !all->is_nil()) {
        if (!all->is_map())
          note(wrong(*all, "struct field SimpleHead.metadata.annotations", "map[string]string"));
        for (const auto& [key, item] : all->entries()) {
          auto s = text_of_scalar(item);
          if (s.is_string() || s.is_nil())
            out.annotations[key] = s.text();
          else
            note(wrong(item, "struct field SimpleHead.metadata.annotations", "string"));
        }
      }
    }
  }
  if (!first.text.empty()) return first;
  return out;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& part : split(text, ",")) out.push_back(lower(trim_space(part)));
  return out;
}

/// Sorted by kind; equal kinds keep their order.
template <class T>
void by_kind(std::vector<T>& all, kind_order order) {
  std::vector<std::size_t> places(all.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::sort(places.begin(), places.end(), [&](std::size_t i, std::size_t j) {
    auto x = kind_rank(all[i].kind, order), y = kind_rank(all[j].kind, order);
    if (x != y) return x < y;
    if (x == install_order.size() && all[i].kind != all[j].kind) return all[i].kind < all[j].kind;
    return i < j;
  });
  std::vector<T> sorted;
  sorted.reserve(all.size());
  for (auto i : places) sorted.push_back(std::move(all[i]));
  all = std::move(sorted);
}

}  // namespace

std::size_t kind_rank(std::string_view kind, kind_order order) {
  const auto& all = order == kind_order::install ? install_order : uninstall_order;
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), kind) - all.begin());
}

std::vector<std::string> split_documents(std::string_view text) {
  text = trim_space(text);
  std::vector<std::string> out;
  auto keep = [&](std::string_view part) {
    if (!part.empty()) out.emplace_back(trim_space(part));
  };
  std::size_t begin = 0, i = 0;
  bool first = true;
  while (i <= text.size()) {
    // A separator is "---" at the start, or after white space that ends in a newline; white space
    // after it belongs to it.
    std::size_t dashes = text.npos;
    std::size_t start = text.npos;
    for (auto at = text.find("---", i); at != text.npos; at = text.find("---", at + 1)) {
      if (at == 0 && first) {
        start = dashes = 0;
        break;
      }
      if (at > begin && text[at - 1] == '\n') {
        dashes = at;
        start = at - 1;
        while (start > begin && blank(text[start - 1])) --start;
        break;
      }
    }
    if (dashes == text.npos) break;
    if (!(first && start == 0 && dashes == 0)) keep(text.substr(begin, start - begin));
    first = false;
    i = dashes + 3;
    while (i < text.size() && blank(text[i])) ++i;
    begin = i;
  }
  keep(text.substr(begin));
  return out;
}

outcome<sorted_manifests> sort_manifests(const std::map<std::string, std::string>& files,
                                         kind_order order,
                                         const std::function<void(const std::string&)>& log) {
  static constexpr std::array<std::string_view, 9> events{
      "pre-install",  "post-install", "pre-delete",    "post-delete", "pre-upgrade",
      "post-upgrade", "pre-rollback", "post-rollback", "test"};
  sorted_manifests out;
  for (const auto& [path, text] : files) {
    if (base_name(path).starts_with('_') || trim_space(text).empty()) continue;
    for (auto& document : split_documents(text)) {
      count_steps(8);
      hold_bytes(bytes_per_document + 2 * document.size());  // it, and where it stands in the text
      auto h = read_head(document);
      if (!h) return problem{"YAML parse error on " + path + ": " + h.error().text};
      auto found = h->annotations.find("helm.sh/hook");
      if (found == h->annotations.end()) {
        out.manifests.push_back({path, std::move(document), h->api_version, h->kind, h->name});
        continue;
      }
      hook one{h->name, h->kind, path, std::move(document), {}, 0, {}, {}};
      bool known = true;
      for (auto& event : listed(found->second)) {
        if (event == "test-success") event = "test";
        known = known && std::find(events.begin(), events.end(), event) != events.end();
        one.events.push_back(event);
      }
      if (!known) {
        if (log) log("info: skipping unknown hook: " + quote(found->second));
        continue;
      }
      auto annotation = [&](const char* name) { return h->annotations.find(name); };
      if (auto w = annotation("helm.sh/hook-weight"); w != h->annotations.end()) {
        auto n = parse_int(w->second, 10);
        if (n.error == int_error::none) one.weight = static_cast<int>(n.number);
      }
      if (auto p = annotation("helm.sh/hook-delete-policy"); p != h->annotations.end())
        one.delete_policies = listed(p->second);
      if (auto p = annotation("helm.sh/hook-output-log-policy"); p != h->annotations.end())
        one.output_log_policies = listed(p->second);
      out.hooks.push_back(std::move(one));
    }
  }
  by_kind(out.hooks, order);
  by_kind(out.manifests, order);
  return out;
}

}  // namespace helm
