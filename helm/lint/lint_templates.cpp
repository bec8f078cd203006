#include "formats/plain/path.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/go.hpp"
#include "helm/lint/lint_rules.hpp"

#include <re2/re2.h>

#include <array>
#include <set>
#include <string_view>
#include <vector>

namespace helm {
namespace {

constexpr std::string_view subdomain_rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view label_rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view service_rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

bool is_label(std::string_view s) {
  auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (s.empty() || !plain(s.front()) || !plain(s.back())) return false;
  for (char c : s)
    if (!plain(c) && c != '-') return false;
  return true;
}

bool is_subdomain(std::string_view s) {
  for (const auto& label : split(s, "."))
    if (!is_label(label)) return false;
  return true;
}

using reasons = std::vector<std::string>;

void longer_than(std::size_t limit, const std::string& name, reasons& out) {
  if (name.size() > limit)
    out.push_back("must be no more than " + std::to_string(limit) + " characters");
}

reasons wrong_with(const std::string& kind, const std::string& name) {
  reasons out;
  const auto k = lower(kind);
  if (k == "certificatesigningrequest") return out;
  if (k == "service") {
    longer_than(63, name, out);
    if (!is_label(name) || (name[0] >= '0' && name[0] <= '9')) out.emplace_back(service_rule);
  } else if (k == "namespace") {
    if (name.find('.') != name.npos) {
      out.emplace_back("must not contain dots");
      return out;
    }
    longer_than(63, name, out);
    if (!is_label(name)) out.emplace_back(label_rule);
  } else if (k == "role" || k == "clusterrole" || k == "rolebinding" || k == "clusterrolebinding") {
    if (name == "." || name == "..") {
      out.push_back("may not be '" + name + "'");
      return out;
    }
    for (const char* c : {"/", "%"})
      if (name.find(c) != name.npos) out.push_back(std::string("may not contain '") + c + "'");
  } else {
    longer_than(253, name, out);
    if (!is_subdomain(name)) out.emplace_back(subdomain_rule);
  }
  return out;
}

/// One document of a rendered file as the linter cuts it: at lines that begin with three dashes.
class document_reader {
public:
  explicit document_reader(std::string_view text) : rest_(text) {}

  /// False at the end. Errors   a separator with something behind it.
  bool next(std::string& document, std::string& problem) {
    document.clear();
    while (!rest_.empty()) {
      const auto newline = rest_.find('\n');
      const auto line = rest_.substr(0, newline == rest_.npos ? newline : newline + 1);
      rest_.remove_prefix(line.size());
      if (line.starts_with("---")) {
        const auto behind = trim_space(line.substr(3));
        if (!behind.empty() && behind[0] != '#') {
          problem = "invalid Yaml document separator: " + std::string(behind);
          return true;
        }
        if (!document.empty()) return true;
      }
      document += line;
    }
    return !document.empty();
  }

private:
  std::string_view rest_;
};

const value* member(const value& v, std::string_view name) {
  if (const auto* exact = v.find(name)) return exact;
  for (const auto& [key, item] : v.entries())
    if (equal_fold(key, name)) return &item;
  return nullptr;
}

/// A document decoded into the few fields that rules look at.
struct head {
  std::string api_version, kind, name;
};

/// Errors   Helm's, naming its own types.
outcome<head> read_head(const value& v) {
  problem first;
  auto wrong = [&](const value& at, const std::string& where, const char* wanted) {
    if (first.text.empty())
      first.text = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(at)) + " into Go " + where + " of type " + wanted;
  };
  head out;
  auto text = [&](const value& m, std::string_view name, const char* field, std::string& into) {
    const auto* item = member(m, name);
    if (!item || item->is_nil()) return;
    auto s = text_of_scalar(*item);
    if (s.is_string())
      into = s.text();
    else
      wrong(*item, std::string("struct field ") + field, "string");
  };
  if (!v.is_map()) {
    wrong(v, "value", "rules.K8sYamlStruct");
    return first;
  }
  text(v, "apiVersion", "K8sYamlStruct.apiVersion", out.api_version);
  text(v, "kind", "K8sYamlStruct.Kind", out.kind);
  if (const auto* meta = member(v, "metadata"); meta && !meta->is_nil()) {
    std::string name_space;
    if (!meta->is_map()) {
      wrong(*meta, "struct field K8sYamlStruct.Metadata", "rules.k8sYamlMetadata");
    } else {
      text(*meta, "namespace", "k8sYamlMetadata.Metadata.Namespace", name_space);
      text(*meta, "name", "k8sYamlMetadata.Metadata.Name", out.name);
    }
  }
  if (!first.text.empty()) return first;
  return out;
}

std::string illegal_indent(const std::string& text) {
  for (const auto& line : split(text, "\n")) {
    if (trim_space(line).empty()) continue;
    if (line[0] != ' ' && line[0] != '\t') return {};
    return "document starts with an illegal indent: " +
           quote(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line) +
           ", which may cause parsing problems";
  }
  return {};
}

bool keeps_resources(const value& list) {
  const auto* items = member(list, "items");
  for (const auto& item : items ? items->items() : value::list_type{}) {
    const auto* meta = member(item, "metadata");
    const auto* annotations = meta ? member(*meta, "annotations") : nullptr;
    if (annotations && annotations->find("helm.sh/resource-policy")) return true;
  }
  return false;
}

/// False ends the linting of templates, as a document that cannot be read does.
bool lint_documents(const std::string& path, const std::string& text, int minor_version,
                    const lint_sink& found) {
  document_reader documents(text);
  std::string document, separator_problem;
  while (documents.next(document, separator_problem)) {
    std::string bad = separator_problem;
    outcome<value> v = value();
    outcome<head> h = head{};
    if (bad.empty()) {
      v = read_go_yaml(document, yaml_numbers::typed);
      if (!v)
        bad = "error converting YAML to JSON: " + v.error().text;
      else if (!v->is_nil())
        h = read_head(*v);
      if (bad.empty() && !h) bad = h.error().text;
    }
    if (!bad.empty()) {
      found(severity::error, path, "unable to parse YAML: " + bad);
      return false;
    }
    if (v->is_nil()) continue;
    if (auto problem = name_problem(h->kind, h->name); !problem.empty())
      found(severity::warning, path, problem);
    if (auto old = deprecation_warning(h->api_version, h->kind, minor_version); !old.empty())
      found(severity::warning, path, old);
    static const std::set<std::string> workloads{"DaemonSet", "Deployment", "ReplicaSet",
                                                 "StatefulSet"};
    if (workloads.contains(h->kind) && text.find("matchLabels") == text.npos &&
        text.find("matchExpressions") == text.npos)
      found(severity::error, path,
            "a " + h->kind + " must contain matchLabels or matchExpressions, and " +
                quote(h->name) + " does not");
    if (h->kind == "List" && keeps_resources(*v))
      found(severity::error, path,
            "Annotation 'helm.sh/resource-policy' within List objects are ignored");
  }
  return true;
}

}  // namespace

std::string name_problem(const std::string& kind, const std::string& name) {
  const auto all = wrong_with(kind, name);
  std::string list;
  for (const auto& reason : all)
    list += (list.empty() ? "" : ", ") + ("metadata.name: Invalid value: " + quote(name)) + ": " +
            reason;
  if (all.empty()) return {};
  return "object name does not conform to Kubernetes naming requirements: " + quote(name) + ": " +
         (all.size() > 1 ? "[" + list + "]" : list);
}

void lint_templates(const chart& c, const rendered_files& files, int minor_version,
                    const lint_sink& found) {
  static const RE2 crd_hook(R"re("?helm\.sh/hook"?:\s+crd-install)re");
  for (const auto& t : c.templates) {
    const auto dot = t.name.rfind('.');
    const auto slash = t.name.rfind('/');
    const auto extension =
        dot == t.name.npos || (slash != t.name.npos && dot < slash) ? "" : t.name.substr(dot);
    if (extension != ".yaml" && extension != ".yml" && extension != ".tpl" && extension != ".txt")
      found(severity::error, t.name,
            "file extension '" + extension +
                "' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt");
    if (RE2::PartialMatch(t.data, crd_hook))
      found(severity::warning, t.name,
            "manifest is a crd-install hook. This hook is no longer supported in v3 and all CRDs "
            "should also exist the crds/ directory at the top level of the chart");
    if (t.data.find(".Release.Time") != std::string::npos)
      found(severity::error, t.name,
            ".Release.Time has been removed in v3, please replace with the `now` function in your "
            "templates");
    if (extension != ".yaml") continue;
    const auto rendered = files.find(clean_path(c.name() + "/" + t.name));
    if (rendered == files.end() || trim_space(rendered->second).empty()) continue;
    if (auto indent = illegal_indent(rendered->second); !indent.empty())
      found(severity::warning, t.name, indent);
    if (!lint_documents(t.name, rendered->second, minor_version, found)) return;
  }
}

}  // namespace helm
