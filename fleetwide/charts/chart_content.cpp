#include "fleetwide/charts/chart_content.hpp"

#include "fleetwide/kinds/fleet_object.hpp"
#include "formats/digest.hpp"
#include "formats/json/json.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/values/values.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json.hpp>

#include <functional>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t digest_digits = 16;
/// What the values of one cluster may cost. Authors of FleetCharts write them and they are put
/// together on the loop, where some hundred bytes of anchors stand for millions of values.
constexpr helm::chart_limits values_limits{.memory_bytes = 16u << 20, .steps = 2'000'000};
constexpr std::size_t steps_a_byte = 2;  // to read YAML

/// The template of a revision, read as objects are.
struct kept_template {
  k8s::object_meta meta;
  chart_spec spec;
  object_texts config_maps;
  std::string keys;

  static kept_template parse(k8s::wire_value v) {
    kept_template out;
    std::string ignored;
    out.spec = chart_spec::parse(v, {}, ignored);
    out.keys = v["provenanceKeys"].text();
    v["configMaps"].members([&](std::string_view name, k8s::wire_value texts) {
      auto& into = out.config_maps[std::string(name)];
      texts.members([&](std::string_view key, k8s::wire_value text) {
        into.emplace(std::string(key), std::string(text.text()));
      });
    });
    return out;
  }
  friend bool operator==(const kept_template&, const kept_template&) = default;
};

/// One text over the values; a sentence where that does not work.
std::string merge_text(helm::value& into, std::string_view text, const std::string& where) {
  formats::count_steps(steps_a_byte * text.size());
  auto read = formats::read_go_yaml(text);
  if (!read) return where + ": " + read.error().text;
  if (read->is_nil()) return {};
  if (!read->is_any_map()) return where + " is no map of values";
  helm::merge_maps(into, *read);
  return {};
}

/// What one source gives to a cluster; a sentence where it is missing and must be there.
std::string merge_source(helm::value& into, const values_source& s, const object_texts& all,
                         const k8s::string_map& labels) {
  const std::string where = std::string(s.is_secret ? "Secret " : "ConfigMap ") + s.name;
  const auto key = s.key_for(labels);
  if (!key)
    return s.is_optional ? std::string()
                         : where + ": the cluster lacks a label that " + s.key + " names";
  const auto object = all.find(s.name);
  if (object == all.end()) return s.is_optional ? std::string() : where + " is not there";
  const auto text = object->second.find(*key);
  if (text == object->second.end())
    return s.is_optional ? std::string() : where + " has no key " + *key;
  return merge_text(into, text->second, where + ", key " + *key);
}

policies::value plain(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return {};
    case json::kind::bool_: return v.get_bool();
    case json::kind::int64: return static_cast<double>(v.get_int64());
    case json::kind::uint64: return static_cast<double>(v.get_uint64());
    case json::kind::double_: return v.get_double();
    case json::kind::string: return std::string(v.get_string());
    case json::kind::array: {
      policies::value::array out;
      for (const json::value& one : v.get_array()) out.push_back(plain(one));
      return out;
    }
    case json::kind::object: {
      policies::value::object out;
      for (const auto& m : v.get_object()) out.emplace(std::string(m.key()), plain(m.value()));
      return out;
    }
  }
  return {};
}

void merge_sources(cluster_values& into, const chart_content& c, bool secrets,
                   const object_texts& all, const k8s::string_map& labels) {
  for (const values_source& s : c.spec.sources)
    if (into.problem.empty() && s.is_secret == secrets)
      into.problem = merge_source(into.values, s, all, labels);
}

/// The values after `work` on them, or why that went over the limits.
cluster_values within_limits(cluster_values of, const std::function<void(cluster_values&)>& work) {
  auto done = helm::bounded("the values", values_limits, [&]() -> helm::outcome<bool> {
    work(of);
    return true;
  });
  if (!done) of = {{}, done.error().text};
  return of;
}

}  // namespace

chart_content chart_content::parse(const revision_content& c) {
  chart_content out;
  auto read = k8s::parse_view<kept_template>(c.template_json);
  if (read) {
    out.spec = std::move(read->spec);
    out.config_maps = std::move(read->config_maps);
    out.keys = std::move(read->keys);
  }
  const std::size_t at = c.image_digest.find('@');
  out.version = c.image_digest.substr(0, at);
  if (at != std::string::npos) out.digest = c.image_digest.substr(at + 1);
  return out;
}

revision_content revision_of(const fleet_object& p, const object_texts& config_maps,
                             const std::map<std::string, std::string>& secret_versions,
                             const found_version& is) {
  revision_content out;
  out.ref = p.ref;
  out.image_digest = is.version + "@" + is.digest;
  json::object maps, secrets;
  for (const auto& [name, texts] : config_maps) {
    json::object one;
    for (const auto& [key, text] : texts) one[key] = text;
    maps[name] = std::move(one);
  }
  for (const auto& [name, at] : secret_versions) secrets[name] = at;
  json::object all = json::parse(p.template_json).as_object();
  if (!maps.empty()) all["configMaps"] = std::move(maps);
  if (!secrets.empty()) all["secrets"] = std::move(secrets);
  if (!is.keys.empty()) all["provenanceKeys"] = is.keys;
  out.template_json = json::serialize(all);
  return out;
}

cluster_values values_before_policy(const chart_content& c, const k8s::string_map& labels) {
  return within_limits({}, [&](cluster_values& out) {
    out.values = helm::value{helm::value::map_type{}};
    merge_sources(out, c, false, c.config_maps, labels);
    if (out.problem.empty() && !c.spec.values_json.empty())
      out.problem = merge_text(out.values, c.spec.values_json, "spec.values");
  });
}

policies::value::object values_for_policy(const helm::value& values) {
  auto text = formats::write_json(values);
  boost::system::error_code wrong;
  const json::value read = text ? json::parse(*text, wrong) : json::value();
  const policies::value out = plain(read);
  return out.if_object() ? *out.if_object() : policies::value::object();
}

helm::value values_of_policy(const policies::value& said) {
  if (said.is_null()) return {};
  auto read = formats::read_go_yaml(policies::to_json_text(said));
  return read ? *std::move(read) : helm::value();
}

cluster_values with_secrets(cluster_values before, const helm::value* policy,
                            const chart_content& c, const object_texts& secrets,
                            const k8s::string_map& labels) {
  return within_limits(std::move(before), [&](cluster_values& out) {
    if (policy && out.problem.empty() && policy->is_any_map())
      helm::merge_maps(out.values, helm::detached_copy(*policy));
    merge_sources(out, c, true, secrets, labels);
  });
}

std::string chosen_keys(const chart_content& c, const k8s::string_map& labels) {
  std::string out;
  for (const values_source& s : c.spec.sources)
    out += s.key_for(labels).value_or(std::string("{}")) + "\n";
  return out;
}

shown_values shown(const cluster_values& of) {
  shown_values out;
  out.problem = of.problem;
  if (!of.problem.empty()) return out;
  if (auto yaml = formats::write_go_yaml(of.values)) out.yaml = std::move(*yaml);
  if (auto text = formats::write_json(of.values)) out.json = std::move(*text);
  return out;
}

std::string digest_of(const chart_content& c, const helm::value& values) {
  const std::string all = helm::placed::fingerprint_text(c.coordinates(), values) + "|" + c.digest +
                          "|" + c.spec.ns + "/" + c.spec.release;
  return formats::sha256_hex(all).substr(0, digest_digits);
}

}  // namespace fleetwide
