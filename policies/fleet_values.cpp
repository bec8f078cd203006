#include "policies/fleet_values.hpp"

#include "policies/hold_text.hpp"
#include "policies/host/value_view.hpp"
#include "policies/label_views.hpp"
#include "policies/moment.hpp"

#include <chrono>

namespace policies {

template <>
struct view_record<fleet_chart_source> {
  static constexpr const char* name = "source of a chart";
  static constexpr field fields[] = {
      field_of<&fleet_chart_source::repository>("repository", "http://, https:// or oci://"),
      field_of<&fleet_chart_source::name>("name"),
      field_of<&fleet_chart_source::version>(
          "version", "as the object says: exact, a range, or empty for the newest stable one"),
  };
};

template <>
struct view_record<fleet_chart_facts> {
  static constexpr const char* name = "fleet chart";
  static constexpr field fields[] = {
      field_of<&fleet_chart_facts::kind>("kind", "FleetChart"),
      field_of<&fleet_chart_facts::ns>("namespace"),
      field_of<&fleet_chart_facts::name>("name"),
      field_of<&fleet_chart_facts::labels>("labels"),
      field_of<&fleet_chart_facts::annotations>("annotations", "those of fleet.windlass.dev"),
      field_of<&fleet_chart_facts::chart>("chart"),
      field_of<&fleet_chart_facts::release>("release", "its name on the clusters"),
      field_of<&fleet_chart_facts::target_namespace>("target_namespace", "on the clusters"),
      field_of<&fleet_chart_facts::config>(
          "config", "texts of the ConfigMaps of `valuesFrom`, by ConfigMap and key; no Secret's"),
      field_of<&fleet_chart_facts::values>(
          "values", "merged so far: those of the ConfigMaps, then the object's own"),
  };
};

template <>
struct view_record<fleet_chart_cluster> {
  static constexpr const char* name = "cluster of a chart";
  static constexpr field fields[] = {
      field_of<&fleet_chart_cluster::name>("name"),
      field_of<&fleet_chart_cluster::cluster_labels>("labels", "of the cluster's Secret at home"),
      field_of<&fleet_chart_cluster::kubernetes>(
          "kubernetes", "version of its API servers, such as v1.33.1; empty: unknown"),
  };
};

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

// yaml.decode takes 4 a byte.
constexpr std::int64_t instructions_per_config_byte = 8;

const shape& chart_values_shape() {
  static const shape all = record_shape(
      "chart values",
      {maybe("values", map_shape(shape(), "a table of values by name"),
             "merged over `chart.values`, 256 KiB of JSON at most; Secrets of `valuesFrom` are "
             "merged over them. nil: none"),
       maybe("hold", reason_shape(),
             "why the chart must wait on this cluster, which keeps the release that it has; nil: "
             "it need not")},
      "a table with values and hold, or nil");
  return all;
}

std::vector<argument> chart_arguments_of(std::shared_ptr<const chart_values_question> q,
                                         reactor::wall_time now) {
  std::vector<argument> out;
  out.emplace_back(view_of(std::shared_ptr<const fleet_chart_facts>(q, &q->object)));
  out.emplace_back(view_of(std::shared_ptr<const fleet_chart_cluster>(q, &q->cluster)));
  out.push_back(now_argument(now));
  return out;
}

std::int64_t chart_instructions(const chart_values_question& q) {
  std::size_t bytes = 0;
  for (const auto& [map, keys] : q.object.config)
    for (const auto& [key, text] : keys) bytes += text.size();
  return unit_instructions + instructions_per_config_byte * static_cast<std::int64_t>(bytes);
}

std::shared_ptr<chart_values_question> typical_chart() {
  auto q = std::make_shared<chart_values_question>();
  fleet_chart_facts& c = q->object;
  c.kind = "FleetChart";
  c.ns = "bootc-operator";
  c.name = "ingress";
  c.labels = k8s::string_map{{"team", "edge"}};
  c.chart = {"https://charts.example.com", "ingress", ">= 4.0.0 < 5.0.0"};
  c.release = "ingress";
  c.target_namespace = "ingress-system";
  c.config["regions"]["eu"] = "replicas: 3\n";
  c.config["regions"]["us"] = "replicas: 5\n";
  c.values = {{"replicas", 2}, {"image", value::object{{"tag", "4.1.0"}}}};
  q->cluster = {"prod-eu", k8s::string_map{{"env", "prod"}, {"region", "eu"}}, "v1.34.2"};
  return q;
}

/// About a cluster of which everything is known, and one of which nothing is.
std::vector<std::vector<argument>> typical_chart_questions(const pack&) {
  const reactor::wall_time now(std::chrono::seconds(1'795'428'000));
  const auto known = typical_chart(), fresh = typical_chart();
  fresh->cluster = {"new-1", {}, {}};
  return {chart_arguments_of(known, now), chart_arguments_of(fresh, now)};
}

}  // namespace

result<chart_values_answer> read_chart_values(const value& answer) {
  chart_values_answer out;
  if (answer.is_null()) return out;
  if (auto fine = check(answer, chart_values_shape()); !fine) return fine.error();
  if (const value* hold = answer.find("hold")) {
    auto read = read_only_hold(*hold);
    if (!read) return read.error();
    out.hold = std::move(*read);
  }
  if (const value* values = answer.find("values")) {
    out.values = *values->if_object();
    if (const std::size_t size = to_json_text(out.values).size(); size > longest_chart_values)
      return make_fault(errc::malformed, {},
                        "values: " + std::to_string(size) + " bytes of JSON, more than " +
                            std::to_string(longest_chart_values));
  }
  return out;
}

reactor::awaitable<result<chart_values_answer>> ask_values(
    host& packs, subject s, std::shared_ptr<const chart_values_question> question,
    reactor::wall_time now) {
  const auto answer = std::make_shared<chart_values_answer>();
  judge accept = [answer](const value& proposed) -> result<void> {
    auto read = read_chart_values(proposed);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("fleet.values", std::move(s), chart_arguments_of(question, now),
                                  chart_instructions(*question), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->version = made->version;
  co_return std::move(*answer);
}

hook fleet_values_hook() {
  hook h;
  h.name = "fleet.values";
  h.question = "which values has this chart on this cluster, beside those that the object says?";
  h.asked = "for each cluster that a FleetChart with `valuesByPolicy` is for";
  h.failure = "the cluster keeps the release that it has. The error is the reason";
  h.budget = "200,000 instructions and 8 for each byte of the ConfigMaps";
  h.arguments = {{"chart", shape_of<fleet_chart_facts>(), "what was said at home"},
                 {"cluster", shape_of<fleet_chart_cluster>(), "the cluster that it is for"},
                 now_described()};
  h.answer = chart_values_shape();
  h.typical = typical_chart_questions;
  h.takes = [](const value& answer, const hook::asking&) {
    return outcome_of(read_chart_values(answer));
  };
  h.instructions = chart_instructions(*typical_chart());
  return h;
}

}  // namespace policies
