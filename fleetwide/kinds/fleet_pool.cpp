#include "fleetwide/kinds/fleet_pool.hpp"

#include "fleetwide/kinds/names.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t most_records_read = 100, most_codes_read = 64, most_name = 253,
                      revision_suffix = 17;  // "-" and 16 digits of its digest
const k8s::annotation_filter annotations_of_a_fleet_pool{false, {"fleet.windlass.dev/"}};

revision_record read_record(k8s::wire_value v) {
  revision_record out;
  const auto [number, digest, ref, image, by, at, end] =
      v.fields("revision", "digest", "ref", "imageDigest", "by", "at", "outcome");
  out.revision = number.integer();
  out.digest = digest.text();
  out.ref = ref.text();
  out.image_digest = image.text();
  out.by = by.text();
  out.at = at.text();
  out.outcome = end.text();
  return out;
}

fleet_pool_status read_fleet_status(k8s::wire_value v) {
  fleet_pool_status s;
  const auto [observed, revision, digest, proven, failed, retried, available, wave] =
      v.fields("observedGeneration", "revision", "digest", "provenDigest", "failedDigest",
               "retried", "availableDigest", "wave");
  s.observed_generation = observed.integer();
  s.revision = revision.integer();
  s.digest = digest.text();
  s.proven_digest = proven.text();
  s.failed_digest = failed.text();
  s.retried = retried.text();
  s.available_digest = available.text();
  s.wave = wave.text();
  const auto [counts, held, history, conditions] =
      v.fields("clusters", "held", "history", "conditions");
  const auto [all, ready, moving, broken, waiting] =
      counts.fields("selected", "ready", "moving", "failed", "waiting");
  s.clusters = all.integer();
  s.ready = ready.integer();
  s.moving = moving.integer();
  s.failed = broken.integer();
  s.waiting = waiting.integer();
  held.members([&](std::string_view code, k8s::wire_value n) {
    if (s.held.size() < most_codes_read) s.held.emplace(code, n.integer());
  });
  history.elements([&](k8s::wire_value one) {
    if (s.history.size() < most_records_read) s.history.push_back(read_record(one));
  });
  s.conditions = k8s::parse_conditions(conditions);
  return s;
}

/// Of a template, what is written to members; without a name, which is the object's own.
std::string template_of(k8s::wire_value labels, k8s::wire_value annotations, k8s::wire_value spec) {
  std::string out = "{\"metadata\":{";
  if (labels.present()) out += "\"labels\":" + labels.json();
  if (annotations.present())
    out += std::string(labels.present() ? "," : "") + "\"annotations\":" + annotations.json();
  return out + "},\"spec\":" + (spec.present() ? spec.json() : std::string("{}")) + "}";
}

}  // namespace

const k8s::resource& fleet_pools() {
  static const k8s::resource r{std::string(names::group), std::string(names::version), "fleetpools",
                               "FleetPool", true};
  return r;
}

fleet_pool fleet_pool::parse(k8s::wire_value object) {
  fleet_pool out;
  out.meta = k8s::parse_meta(object, annotations_of_a_fleet_pool);
  out.created = object["metadata"]["creationTimestamp"].text();
  const auto [clusters, made, image, rollout, paused, limit, removal] = object["spec"].fields(
      "clusters", "template", "image", "rollout", "paused", "revisionHistoryLimit", "removal");
  out.clusters = cluster_choice::parse(clusters);
  out.rollout = rollout_settings::parse(rollout);
  const auto [metadata, spec] = made.fields("metadata", "spec");
  const auto [name, labels, annotations] = metadata.fields("name", "labels", "annotations");
  out.pool_name = name.present() ? std::string(name.text()) : out.meta.name.str();
  made.refuse_duplicates();
  out.template_json = template_of(labels, annotations, spec);
  const auto [ref, updates] = image.fields("ref", "updates");
  out.image_ref = ref.text();
  out.follows_tag = updates.text() != "Manual";
  out.paused = paused.boolean();
  out.removes = removal.text() == "Delete";
  out.history_limit = std::clamp<std::int64_t>(limit.integer(10), 1, most_history);
  const auto wrong = [&](std::string why) {
    if (out.problem.empty()) out.problem = std::move(why);
  };
  if (out.image_ref.empty()) wrong("spec.image.ref is empty");
  if (spec["image"].present())
    wrong("spec.template.spec.image stands in image.ref of the FleetPool, not in its template");
  if (!spec["nodeSelector"].present()) wrong("spec.template.spec.nodeSelector is missing");
  if (out.template_json.size() > most_template_bytes)
    wrong("spec.template has " + std::to_string(out.template_json.size()) + " bytes, " +
          std::to_string(most_template_bytes) + " are allowed");
  if (out.meta.name.str().size() + revision_suffix > most_name)
    wrong("metadata.name is longer than " + std::to_string(most_name - revision_suffix) +
          " characters, so its revisions have no name");
  annotations.members([&](std::string_view key, k8s::wire_value) {
    if (key.starts_with("windlass.dev/fleet-"))
      wrong("spec.template.metadata.annotations has " + std::string(key) + ", which is ours");
  });
  out.status = read_fleet_status(object["status"]);
  return out;
}

const std::string& fleet_pool::spec_problem() const noexcept {
  if (!problem.empty()) return problem;
  return !clusters.problem.empty() ? clusters.problem : rollout.problem;
}

std::string fleet_pool::mark() const {
  return "FleetPool/" + meta.ns.str() + "/" + meta.name.str();
}

bool fleet_pool::adopts_on(std::string_view cluster) const {
  std::string_view all = meta.annotations.get(names::adopt);
  if (all == names::all_clusters) return true;
  while (!all.empty()) {
    const std::size_t comma = all.find(',');
    if (all.substr(0, comma) == cluster) return true;
    all.remove_prefix(comma == std::string_view::npos ? all.size() : comma + 1);
  }
  return false;
}

std::size_t fleet_pool::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + template_json.capacity() + image_ref.capacity();
  for (const revision_record& r : status.history) total += sizeof r + r.ref.capacity();
  for (const k8s::condition& c : status.conditions) total += sizeof c + c.message.capacity();
  return total;
}

json::object to_json(const fleet_pool_status& s) {
  const auto text = [](const std::string& t) {
    return t.empty() ? json::value(nullptr) : json::value(t);
  };
  json::array history;
  for (const revision_record& r : s.history) {
    json::object one{{"revision", r.revision}, {"digest", r.digest}, {"ref", r.ref}};
    if (!r.image_digest.empty()) one["imageDigest"] = r.image_digest;
    if (!r.by.empty()) one["by"] = r.by;
    one["at"] = r.at;
    one["outcome"] = r.outcome;
    history.push_back(std::move(one));
  }
  json::object held;
  for (const auto& [code, n] : s.held) held[code] = n;
  json::object out;
  out["observedGeneration"] = s.observed_generation;
  out["revision"] = s.revision;
  out["digest"] = text(s.digest);
  out["provenDigest"] = text(s.proven_digest);
  out["failedDigest"] = text(s.failed_digest);
  out["retried"] = text(s.retried);
  out["availableDigest"] = text(s.available_digest);
  out["wave"] = text(s.wave);
  out["clusters"] = json::object{{"selected", s.clusters},
                                 {"ready", s.ready},
                                 {"moving", s.moving},
                                 {"failed", s.failed},
                                 {"waiting", s.waiting}};
  out["held"] = std::move(held);
  out["history"] = std::move(history);
  out["conditions"] = k8s::conditions_to_json(s.conditions);
  return out;
}

}  // namespace fleetwide
