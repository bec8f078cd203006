#include "k8s/sim/objects/admission.hpp"

#include "k8s/sim/objects/decoding.hpp"
#include "k8s/sim/objects/selector.hpp"

#include <algorithm>
#include <cctype>

namespace k8s::sim {

namespace {

constexpr std::string_view kSubdomainProblem =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelProblem =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kQualifiedProblem =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueProblem =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::size_t kAnnotationsLimit = 256 * 1024;  // validation.TotalAnnotationSizeLimitB
constexpr std::size_t kDataLimit = 1024 * 1024;        // core.MaxSecretSize

bool is_name_part(std::string_view s) {
  auto edge = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (s.empty() || s.size() > 63 || !edge(s.front()) || !edge(s.back())) return false;
  return std::all_of(s.begin(), s.end(),
                     [&](char c) { return edge(c) || c == '-' || c == '_' || c == '.'; });
}

void validate_metadata(const kind_info& kind, const json::object& o, field_errors& errors) {
  const std::string_view name = text(o, {"metadata", "name"});
  if (name.empty()) {
    errors.push_back(field_error::required("metadata.name", "name or generateName is required"));
  } else if (std::string why = name_problem(kind, name); !why.empty()) {
    errors.push_back(field_error::invalid("metadata.name", json::string(name), why));
  }
  if (const json::object* labels = find_object(o, {"metadata", "labels"})) {
    for (const auto& [k, v] : *labels) {
      if (!is_qualified_name(k)) {
        errors.push_back(field_error::invalid("metadata.labels", json::string(std::string_view(k)),
                                              kQualifiedProblem));
      }
      if (v.is_string() && !is_label_value(v.get_string())) {
        errors.push_back(field_error::invalid("metadata.labels", v, kValueProblem));
      }
    }
  }
  if (const json::object* annotations = find_object(o, {"metadata", "annotations"})) {
    std::size_t total = 0;
    for (const auto& [k, v] : *annotations) {
      std::string lower(k);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      if (!is_qualified_name(lower)) {
        errors.push_back(field_error::invalid(
            "metadata.annotations", json::string(std::string_view(k)), kQualifiedProblem));
      }
      total += k.size() + (v.is_string() ? v.get_string().size() : 0);
    }
    if (total > kAnnotationsLimit)
      errors.push_back(field_error::too_long("metadata.annotations", kAnnotationsLimit));
  }
  if (const json::array* finalizers = find_array(o, {"metadata", "finalizers"})) {
    for (const json::value& f : *finalizers) {
      std::string_view s = f.is_string() ? std::string_view(f.get_string()) : std::string_view();
      if (!is_qualified_name(s)) {
        errors.push_back(field_error::invalid("metadata.finalizers", f, kQualifiedProblem));
      } else if (s.find('/') == std::string_view::npos && s != "orphan" &&
                 s != "foregroundDeletion" && s != "kubernetes") {
        errors.push_back(field_error::invalid(
            "metadata.finalizers", f,
            "name is neither a standard finalizer name nor is it fully qualified"));
      }
    }
  }
  if (const json::array* owners = find_array(o, {"metadata", "ownerReferences"})) {
    int controllers = 0;
    for (std::size_t i = 0; i < owners->size(); ++i) {
      const json::object* owner = (*owners)[i].if_object();
      const std::string at = "metadata.ownerReferences";
      if (!owner) continue;
      for (const char* f : {"apiVersion", "kind", "name", "uid"}) {
        if (text(*owner, {f}).empty()) {
          std::string field = at + "." + f;
          errors.push_back(
              f == std::string_view("apiVersion")
                  ? field_error::invalid(field, json::string(), "version must not be empty")
                  : field_error::invalid(field, json::string(),
                                         std::string(f) + " must not be empty"));
        }
      }
      if (flag(*owner, {"controller"})) ++controllers;
    }
    if (controllers > 1) {
      errors.push_back(field_error::invalid("metadata.ownerReferences", json::value_from(*owners),
                                            "Only one reference can have Controller set to true"));
    }
  }
}

void validate_containers(const json::object& spec, const std::string& at, std::string_view list,
                         bool needed, field_errors& errors) {
  const json::array* all = find_array(spec, {list});
  const std::string base = at + "." + std::string(list);
  if (!all || all->empty()) {
    if (needed) errors.push_back(field_error::required(base));
    return;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const std::string here = base + "[" + std::to_string(i) + "]";
    const json::object* c = (*all)[i].if_object();
    if (!c) continue;
    std::string name(text(*c, {"name"}));
    if (name.empty()) {
      errors.push_back(field_error::required(here + ".name"));
    } else if (!is_dns_label(name)) {
      errors.push_back(field_error::invalid(here + ".name", json::string(name), kLabelProblem));
    } else if (std::find(names.begin(), names.end(), name) != names.end()) {
      errors.push_back(field_error::duplicate(here + ".name", json::string(name)));
    }
    names.push_back(name);
    if (text(*c, {"image"}).empty()) errors.push_back(field_error::required(here + ".image"));
  }
}

void validate_pod_spec(const json::object& spec, const std::string& at, field_errors& errors) {
  validate_containers(spec, at, "containers", true, errors);
  validate_containers(spec, at, "initContainers", false, errors);
  const std::string_view restart = text(spec, {"restartPolicy"});
  if (restart != "Always" && restart != "OnFailure" && restart != "Never") {
    errors.push_back(field_error::unsupported(at + ".restartPolicy", json::string(restart),
                                              {"Always", "OnFailure", "Never"}));
  }
}

void validate_data(const json::object& o, std::string_view member, bool binary, std::size_t& total,
                   field_errors& errors) {
  const json::object* data = find_object(o, {member});
  if (!data) return;
  for (const auto& [k, v] : *data) {
    const std::string at = std::string(member) + "[" + std::string(k) + "]";
    const bool fine =
        !k.empty() && k.size() <= 253 && std::all_of(k.begin(), k.end(), [](unsigned char c) {
          return std::isalnum(c) || c == '-' || c == '_' || c == '.';
        });
    if (!fine) {
      errors.push_back(field_error::invalid(
          at, json::string(std::string_view(k)),
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
          "'key.name',  or "
          "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"));
    }
    if (v.is_string()) total += binary ? v.get_string().size() / 4 * 3 : v.get_string().size();
  }
}

void validate_budget(const json::object& spec, field_errors& errors) {
  const json::value* least = spec.if_contains("minAvailable");
  const json::value* most = spec.if_contains("maxUnavailable");
  if (least && most) {
    errors.push_back(field_error::invalid("spec", json::value(spec),
                                          "minAvailable and maxUnavailable cannot be both set"));
  }
  for (auto [field, v] :
       {std::pair{"spec.minAvailable", least}, std::pair{"spec.maxUnavailable", most}}) {
    if (!v) continue;
    if (v->is_int64() && v->get_int64() < 0) {
      errors.push_back(field_error::invalid(field, *v, "must be greater than or equal to 0"));
    } else if (v->is_string()) {
      std::string_view s = v->get_string();
      const bool percent =
          s.size() > 1 && s.back() == '%' &&
          std::all_of(s.begin(), s.end() - 1, [](unsigned char c) { return std::isdigit(c); });
      if (!percent) {
        errors.push_back(field_error::invalid(field, *v,
                                              "a valid percent string must be a numeric string "
                                              "followed by an ending '%' (e.g. '1%',  or "
                                              "'93%', regex used for validation is '[0-9]+%')"));
      } else if (s.size() > 4 || std::stoi(std::string(s)) > 100) {
        errors.push_back(field_error::invalid(field, *v, "must not be greater than 100%"));
      }
    }
  }
  if (const json::object* selector = find_object(spec, {"selector"})) {
    if (auto s = label_selector::from_object(*selector); !s) {
      errors.push_back(
          field_error::invalid("spec.selector", json::value(*selector), s.error().message));
    }
  }
}

}  // namespace

bool is_dns_label(std::string_view s) {
  if (s.empty() || s.size() > 63 || s.front() == '-' || s.back() == '-') return false;
  return std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-';
  });
}

bool is_dns_subdomain(std::string_view s) {
  if (s.empty() || s.size() > 253) return false;
  for (;;) {
    const std::size_t dot = s.find('.');
    std::string_view part = s.substr(0, dot);
    if (part.empty() || part.front() == '-' || part.back() == '-') return false;
    if (!std::all_of(part.begin(), part.end(), [](unsigned char c) {
          return std::islower(c) || std::isdigit(c) || c == '-';
        })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    s.remove_prefix(dot + 1);
  }
}

bool is_label_value(std::string_view s) {
  return s.empty() || is_name_part(s);
}

bool is_qualified_name(std::string_view s) {
  const std::size_t slash = s.find('/');
  if (slash == std::string_view::npos) return is_name_part(s);
  return is_dns_subdomain(s.substr(0, slash)) && is_name_part(s.substr(slash + 1));
}

std::string name_problem(const kind_info& kind, std::string_view s) {
  if (kind.kind == "Namespace" && kind.group.empty())
    return is_dns_label(s) ? "" : std::string(kLabelProblem);
  if (kind.group == "rbac.authorization.k8s.io") {
    if (s == "." || s == "..") return "may not be '" + std::string(s) + "'";
    for (const char c : {'/', '%'})
      if (s.find(c) != s.npos) return std::string("may not contain '") + c + "'";
    return "";
  }
  return is_dns_subdomain(s) ? "" : std::string(kSubdomainProblem);
}

field_errors validate(const kind_info& kind, const json::object& o) {
  field_errors errors;
  validate_metadata(kind, o, errors);
  if (kind.custom) return errors;
  if (kind.type) validate_words(o, *kind.type, errors);
  static const json::object nothing;
  const json::object* found = find_object(o, {"spec"});
  const json::object& spec = found ? *found : nothing;
  if (kind.kind == "Pod") {
    validate_pod_spec(spec, "spec", errors);
  } else if (kind.group == "apps" && kind.kind != "ControllerRevision") {
    const json::object* pod = find_object(spec, {"template", "spec"});
    validate_pod_spec(pod ? *pod : nothing, "spec.template.spec", errors);
    const json::object* selector = find_object(spec, {"selector"});
    if (!selector) {
      errors.push_back(field_error::required("spec.selector"));
    } else if (auto s = label_selector::from_object(*selector); s) {
      const json::object* labels = find_object(spec, {"template", "metadata", "labels"});
      if (!s->matches(labels)) {
        errors.push_back(field_error::invalid("spec.template.metadata.labels",
                                              labels ? json::value(*labels) : json::value(nullptr),
                                              "`selector` does not match template `labels`"));
      }
    }
  } else if (kind.kind == "Job") {
    const json::object* pod = find_object(spec, {"template", "spec"});
    validate_containers(pod ? *pod : nothing, "spec.template.spec", "containers", true, errors);
    const std::string_view restart = pod ? text(*pod, {"restartPolicy"}) : std::string_view();
    if (restart != "OnFailure" && restart != "Never") {
      errors.push_back(field_error::required("spec.template.spec.restartPolicy",
                                             R"(valid values: "OnFailure", "Never")"));
    }
  } else if (kind.kind == "Service") {
    const json::array* ports = find_array(spec, {"ports"});
    if ((!ports || ports->empty()) && text(spec, {"type"}) != "ExternalName" &&
        text(spec, {"clusterIP"}) != "None") {
      errors.push_back(field_error::required("spec.ports"));
    }
  } else if (kind.kind == "ConfigMap" || kind.kind == "Secret") {
    std::size_t total = 0;
    validate_data(o, "data", kind.kind == "Secret", total, errors);
    validate_data(o, "binaryData", true, total, errors);
    if (total > kDataLimit)
      errors.push_back(field_error::too_long(kind.kind == "Secret" ? "data" : "", kDataLimit));
    if (kind.kind == "Secret" && text(o, {"type"}) == "kubernetes.io/dockerconfigjson" &&
        !find(o, {"data", ".dockerconfigjson"})) {
      errors.push_back(field_error::required("data[.dockerconfigjson]"));
    }
  } else if (kind.kind == "PodDisruptionBudget") {
    validate_budget(spec, errors);
  } else if (kind.kind == "Node") {
    if (const json::array* taints = find_array(spec, {"taints"})) {
      for (std::size_t i = 0; i < taints->size(); ++i) {
        const json::object* t = (*taints)[i].if_object();
        const std::string at = "spec.taints[" + std::to_string(i) + "]";
        if (!t) continue;
        std::string_view effect = text(*t, {"effect"});
        if (text(*t, {"key"}).empty()) errors.push_back(field_error::required(at + ".key"));
        if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
          errors.push_back(
              field_error::unsupported(at + ".effect", json::string(effect),
                                       {"NoExecute", "NoSchedule", "PreferNoSchedule"}));
        }
      }
    }
  }
  return errors;
}

field_errors validate_update(const kind_info& kind, const json::object& before,
                             const json::object& after) {
  field_errors errors = validate(kind, after);
  if (kind.custom) return errors;
  auto is_same = [&](path_view path) {
    const json::value* b = find(before, path);
    const json::value* a = find(after, path);
    return (!b && !a) || (b && a && same(*b, *a));
  };
  auto must_stay = [&](path_view path, std::string field) {
    if (is_same(path)) return;
    const json::value* a = find(after, path);
    errors.push_back(field_error::immutable(std::move(field), a ? *a : json::value(nullptr)));
  };
  if (kind.kind == "Secret") must_stay({"type"}, "type");
  if (kind.kind == "Secret" || kind.kind == "ConfigMap") {
    if (flag(before, {"immutable"})) {
      for (std::string_view f : {"data", "binaryData"}) {
        if (!is_same({f})) {
          errors.push_back(
              field_error::forbidden(std::string(f), "field is immutable when `immutable` is set"));
        }
      }
      if (!flag(after, {"immutable"})) {
        errors.push_back(
            field_error::forbidden("immutable", "field is immutable when `immutable` is set"));
      }
    }
  }
  if (kind.kind == "DaemonSet" || kind.kind == "Deployment")
    must_stay({"spec", "selector"}, "spec.selector");
  if (kind.kind == "Job") {
    must_stay({"spec", "completions"}, "spec.completions");
    must_stay({"spec", "selector"}, "spec.selector");
    must_stay({"spec", "template"}, "spec.template");
  }
  if (kind.kind.ends_with("RoleBinding") && !is_same({"roleRef"})) {
    const json::value* is = find(after, {"roleRef"});
    errors.push_back(
        field_error::invalid("roleRef", is ? *is : json::value(nullptr), "cannot change roleRef"));
  }
  if (kind.kind == "Pod" && !is_same({"spec"})) {
    // Only images, deadlines, tolerations (added) and scheduling gates may change; the rest of the
    // spec stays.
    auto essence = [](const json::object& pod) {
      json::object spec;
      if (const json::object* s = find_object(pod, {"spec"})) spec = *s;
      for (const char* f : {"activeDeadlineSeconds", "tolerations", "schedulingGates",
                            "terminationGracePeriodSeconds", "ephemeralContainers"}) {
        erase(spec, f);
      }
      for (const char* list : {"containers", "initContainers"}) {
        json::value* all = spec.if_contains(list);
        if (!all || !all->is_array()) continue;
        for (json::value& c : all->get_array()) {
          if (c.is_object()) erase(c.get_object(), "image");
        }
      }
      return spec;
    };
    if (essence(before) != essence(after)) {
      errors.push_back(field_error::forbidden(
          "spec",
          "pod updates may not change fields other than `spec.containers[*].image`,"
          "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
          "additions to "
          "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
          "it was "
          "previously negative)"));
    }
  }
  return errors;
}

}  // namespace k8s::sim
