#include "helm/command_options.hpp"

#include "helm/go_text.hpp"

#include <algorithm>
#include <functional>

namespace helm {
namespace {

/// The flags of one command, in pflag's manner: --name value, --name=value, -n value, -nvalue, grouped short booleans.
class flags {
public:
  void text(std::string name, char brief, std::string& into) {
    add(std::move(name), brief, true, [&into](const std::string& v) {
      into = v;
      return true;
    });
  }
  /// Repeatable; every value is taken as it is.
  void list(std::string name, char brief, std::vector<std::string>& into) {
    add(std::move(name), brief, true, [&into](const std::string& v) {
      into.push_back(v);
      return true;
    });
  }
  /// Repeatable, and split at commas.
  void split_list(std::string name, char brief, std::vector<std::string>& into) {
    add(std::move(name), brief, true, [&into](const std::string& v) {
      for (auto& part : split(v, ",")) into.push_back(part);
      return true;
    });
  }
  void flag(std::string name, char brief, bool& into) {
    add(std::move(name), brief, false, [&into](const std::string& v) {
      if (v == "true" || v == "1" || v == "t" || v == "T" || v == "TRUE" || v == "True")
        into = true;
      else if (v == "false" || v == "0" || v == "f" || v == "F" || v == "FALSE" || v == "False")
        into = false;
      else
        return false;
      return true;
    });
  }
  /// Accepted for compatibility; it changes nothing in what is rendered locally.
  void ignored(std::initializer_list<const char*> names, bool takes_value) {
    for (const auto* n : names) add(n, 0, takes_value, [](const std::string&) { return true; });
  }
  void unsupported(std::initializer_list<const char*> names) {
    unsupported_.insert(unsupported_.end(), names.begin(), names.end());
  }

  outcome<std::vector<std::string>> parse(std::span<const std::string> arguments) {
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto& a = arguments[i];
      if (a == "--") {
        rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    arguments.end());
        break;
      }
      if (a.size() < 2 || a[0] != '-') {
        rest.push_back(a);
        continue;
      }
      if (a.starts_with("--")) {
        auto equals = a.find('=');
        auto name = a.substr(2, equals == a.npos ? a.npos : equals - 2);
        if (std::find(unsupported_.begin(), unsupported_.end(), name) != unsupported_.end())
          return problem{"flag --" + name + " is not supported by windlass"};
        auto* f = find([&](const one& o) { return o.name == name; });
        if (!f) return problem{"unknown flag: --" + name};
        std::string v = "true";
        if (equals != a.npos)
          v = a.substr(equals + 1);
        else if (f->takes_value) {
          if (i + 1 >= arguments.size()) return problem{"flag needs an argument: --" + name};
          v = arguments[++i];
        }
        if (!f->apply(v))
          return problem{"invalid argument " + quote(v) + " for " + quote("--" + name) +
                         " flag: strconv.ParseBool: parsing " + quote(v) + ": invalid syntax"};
        continue;
      }
      for (std::size_t at = 1; at < a.size(); ++at) {
        auto* f = find([&](const one& o) { return o.brief == a[at]; });
        if (!f)
          return problem{"unknown shorthand flag: " +
                         quote_rune(static_cast<unsigned char>(a[at])) + " in " + a};
        if (!f->takes_value) {
          static_cast<void>(f->apply("true"));
          continue;
        }
        auto v = a.substr(at + 1);
        if (v.starts_with('=')) v.erase(0, 1);
        if (at + 1 >= a.size()) {
          if (i + 1 >= arguments.size())
            return problem{"flag needs an argument: " +
                           quote_rune(static_cast<unsigned char>(a[at])) + " in " + a};
          v = arguments[++i];
        }
        static_cast<void>(f->apply(v));
        break;
      }
    }
    return rest;
  }

private:
  struct one {
    std::string name;
    char brief;
    bool takes_value;
    std::function<bool(const std::string&)> apply;
  };
  void add(std::string name, char brief, bool takes_value,
           std::function<bool(const std::string&)> apply) {
    all_.push_back({std::move(name), brief, takes_value, std::move(apply)});
  }
  template <class Matches>
  one* find(Matches matches) {
    auto found = std::find_if(all_.begin(), all_.end(), matches);
    return found == all_.end() ? nullptr : &*found;
  }
  std::vector<one> all_;
  std::vector<std::string> unsupported_;
};

void add_values(flags& f, value_options& v) {
  f.split_list("values", 'f', v.files);
  f.list("set", 0, v.set);
  f.list("set-string", 0, v.set_string);
  f.list("set-file", 0, v.set_file);
  f.list("set-json", 0, v.set_json);
  f.list("set-literal", 0, v.set_literal);
}

void add_global(flags& f) {
  f.ignored({"burst-limit", "kube-apiserver", "kube-as-group", "kube-as-user", "kube-ca-file",
             "kube-context", "kube-tls-server-name", "kube-token", "kubeconfig", "qps",
             "registry-config", "repository-cache", "repository-config"},
            true);
  f.ignored({"kube-insecure-skip-tls-verify"}, false);
}

}  // namespace

outcome<template_options> parse_template_arguments(std::span<const std::string> arguments) {
  template_options o;
  flags f;
  add_values(f, o.values);
  add_global(f);
  f.text("namespace", 'n', o.name_space);
  f.text("kube-version", 0, o.kube_version);
  f.split_list("api-versions", 'a', o.api_versions);
  f.list("show-only", 's', o.show_only);
  f.text("output-dir", 0, o.output_dir);
  f.text("name-template", 0, o.name_template);
  f.flag("generate-name", 'g', o.generate_name);
  f.flag("release-name", 0, o.use_release_name);
  f.flag("include-crds", 0, o.include_crds);
  f.flag("skip-tests", 0, o.skip_tests);
  f.flag("no-hooks", 0, o.no_hooks);
  f.flag("is-upgrade", 0, o.is_upgrade);
  f.flag("skip-schema-validation", 0, o.skip_schema_validation);
  f.flag("render-subchart-notes", 0, o.sub_notes);
  f.flag("debug", 0, o.debug);
  f.ignored({"timeout", "description", "labels", "version", "dry-run"}, true);
  f.ignored({"atomic", "create-namespace", "devel", "disable-openapi-validation", "force",
             "hide-notes", "insecure-skip-tls-verify", "pass-credentials", "plain-http", "replace",
             "skip-crds", "take-ownership", "wait", "wait-for-jobs"},
            false);
  f.unsupported({"validate", "post-renderer", "post-renderer-args", "dependency-update",
                 "enable-dns", "repo", "ca-file", "cert-file", "key-file", "keyring", "password",
                 "username", "verify"});
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  if (rest->empty())
    return problem{
        "\"helm template\" requires at least 1 argument\n\nUsage:  helm template [NAME] [CHART] "
        "[flags]"};
  if (rest->size() > 2) {
    std::string more;
    for (std::size_t i = 2; i < rest->size(); ++i) more += (more.empty() ? "" : " ") + (*rest)[i];
    return problem{"expected at most two arguments, unexpected arguments: " + more};
  }
  if (rest->size() == 2) {
    if (o.generate_name) return problem{"cannot set --generate-name and also specify a name"};
    if (!o.name_template.empty())
      return problem{"cannot set --name-template and also specify a name"};
    o.release_name = (*rest)[0];
  }
  o.chart = rest->back();
  return o;
}

outcome<show_options> parse_show_arguments(std::span<const std::string> arguments) {
  show_options o;
  flags f;
  add_global(f);
  f.ignored({"version", "namespace"}, true);
  f.ignored({"devel", "debug"}, false);
  f.unsupported({"repo", "jsonpath", "ca-file", "cert-file", "key-file", "keyring", "password",
                 "username", "verify"});
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  static const std::map<std::string, show_part> parts{{"all", show_part::all},
                                                      {"chart", show_part::chart},
                                                      {"values", show_part::values},
                                                      {"readme", show_part::readme},
                                                      {"crds", show_part::crds}};
  if (rest->size() != 2 || !parts.contains((*rest)[0]))
    return problem{
        "\"helm show\" requires a part (all, chart, crds, readme, values) and 1 argument"};
  o.part = parts.at((*rest)[0]);
  o.chart = (*rest)[1];
  return o;
}

outcome<lint_options> parse_lint_arguments(std::span<const std::string> arguments) {
  lint_options o;
  flags f;
  add_values(f, o.values);
  add_global(f);
  f.text("namespace", 'n', o.name_space);
  f.text("kube-version", 0, o.kube_version);
  f.flag("strict", 0, o.strict);
  f.flag("quiet", 0, o.quiet);
  f.flag("with-subcharts", 0, o.with_subcharts);
  f.flag("skip-schema-validation", 0, o.skip_schema_validation);
  f.ignored({"debug"}, false);
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  o.charts = std::move(*rest);
  if (o.charts.empty()) o.charts.emplace_back(".");
  return o;
}

}  // namespace helm
