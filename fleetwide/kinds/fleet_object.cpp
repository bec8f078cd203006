#include "fleetwide/kinds/fleet_object.hpp"

#include "fleetwide/kinds/names.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t most_records_read = 100, most_codes_read = 64, most_name = 253,
                      revision_suffix = 17;  // "-" and 16 digits of its digest
const k8s::annotation_filter annotations_of_ours{false, {"fleet.windlass.dev/"}};

revision_record read_record(k8s::wire_value v) {
  revision_record out;
  const auto [number, digest, ref, image, by, at, end, signed_by] =
      v.fields("revision", "digest", "ref", "imageDigest", "by", "at", "outcome", "signedBy");
  out.signed_by = signed_by.text();
  out.revision = number.integer();
  out.digest = digest.text();
  out.ref = ref.text();
  out.image_digest = image.text();
  out.by = by.text();
  out.at = at.text();
  out.outcome = end.text();
  return out;
}

fleet_status read_fleet_status(k8s::wire_value v) {
  fleet_status s;
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

}  // namespace

void note_problem(fleet_object& of, std::string why) {
  if (of.problem.empty()) of.problem = std::move(why);
}

void read_common(fleet_object& into, k8s::wire_value object) {
  into.meta = k8s::parse_meta(object, annotations_of_ours);
  into.created = object["metadata"]["creationTimestamp"].text();
  const auto [clusters, rollout, paused, limit] =
      object["spec"].fields("clusters", "rollout", "paused", "revisionHistoryLimit");
  into.clusters = cluster_choice::parse(clusters);
  into.rollout = rollout_settings::parse(rollout);
  into.paused = paused.boolean();
  into.history_limit = std::clamp<std::int64_t>(limit.integer(10), 1, fleet_object::most_history);
  if (into.meta.name.str().size() + revision_suffix > most_name)
    note_problem(into, "metadata.name is longer than " +
                           std::to_string(most_name - revision_suffix) +
                           " characters, so its revisions have no name");
  into.status = read_fleet_status(object["status"]);
}

const std::string& fleet_object::spec_problem() const noexcept {
  if (!problem.empty()) return problem;
  return !clusters.problem.empty() ? clusters.problem : rollout.problem;
}

std::string fleet_object::mark() const {
  return std::string(kind) + "/" + meta.ns.str() + "/" + meta.name.str();
}

bool fleet_object::adopts_on(std::string_view cluster) const {
  std::string_view all = meta.annotations.get(names::adopt);
  if (all == names::all_clusters) return true;
  while (!all.empty()) {
    const std::size_t comma = all.find(',');
    if (all.substr(0, comma) == cluster) return true;
    all.remove_prefix(comma == std::string_view::npos ? all.size() : comma + 1);
  }
  return false;
}

std::size_t fleet_object::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + template_json.capacity() + ref.capacity();
  for (const revision_record& r : status.history) total += sizeof r + r.ref.capacity();
  for (const k8s::condition& c : status.conditions) total += sizeof c + c.message.capacity();
  return total;
}

json::object to_json(const fleet_status& s) {
  const auto text = [](const std::string& t) {
    return t.empty() ? json::value(nullptr) : json::value(t);
  };
  json::array history;
  for (const revision_record& r : s.history) {
    json::object one{{"revision", r.revision}, {"digest", r.digest}, {"ref", r.ref}};
    if (!r.image_digest.empty()) one["imageDigest"] = r.image_digest;
    if (!r.signed_by.empty()) one["signedBy"] = r.signed_by;
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
