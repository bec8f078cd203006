#include "simulation/trustee_invariants.hpp"

#include "k8s/sim/objects/json.hpp"
#include "simulation/mounted_catalogue.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace simulation {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char *configs = "trusteeconfigs", *deployments = "deployments",
                     *secrets = "secrets", *config_maps = "configmaps";
/// What a service has read just before may have been deleted since, and a crash, a dead server or
/// a lost answer lies between its reading and its writing.
constexpr reactor::nanoseconds forgiven_for = 3min;
constexpr std::string_view key_pair = "-auth-secret";

bool concerns(std::string_view plural) {
  static const std::set<std::string_view> all = {configs,
                                                 "kbsconfigs",
                                                 config_maps,
                                                 secrets,
                                                 deployments,
                                                 "services",
                                                 "persistentvolumeclaims"};
  return all.contains(plural);
}

/// The UIDs of those that control it.
std::vector<std::string> controllers_of(const json::object& o) {
  std::vector<std::string> out;
  const json::array* refs = k8s::sim::find_array(o, {"metadata", "ownerReferences"});
  if (!refs) return out;
  for (const json::value& ref : *refs)
    if (ref.is_object() && k8s::sim::flag(ref.get_object(), {"controller"}))
      out.emplace_back(k8s::sim::text(ref.get_object(), {"uid"}));
  return out;
}

/// A mark stands in a value that pods read, not in what was put aside.
bool has_mark(std::string_view plural, const json::object& o, const std::string& mark) {
  if (plural != config_maps) {
    const json::object* spec = k8s::sim::find_object(o, {"spec"});
    return spec && json::serialize(*spec).find(mark) != std::string::npos;
  }
  const json::object* data = k8s::sim::find_object(o, {"data"});
  if (!data) return false;
  return std::ranges::any_of(*data, [&](const auto& field) {
    return !std::string_view(field.key()).ends_with(".previous") && field.value().is_string() &&
           field.value().get_string().find(mark) != std::string_view::npos;
  });
}

}  // namespace

trustee_invariants::trustee_invariants(std::vector<std::string> clusters,
                                       std::function<reactor::steady_time()> now)
    : now_(std::move(now)), registry_(mounted_catalogue::first_registry) {
  for (std::string& name : clusters) clusters_.emplace_back().name = std::move(name);
}

void trustee_invariants::by_person(const std::function<void()>& f) {
  by_person_ = true;
  f();
  by_person_ = false;
}

void trustee_invariants::wrote(std::size_t cluster, const std::string& plural,
                               const std::string& name, std::string mark) {
  const auto found = clusters_[cluster].things.find({plural, name});
  if (found != clusters_[cluster].things.end()) found->second.mark = std::move(mark);
}

void trustee_invariants::saw(std::size_t cluster, const k8s::sim::written& w) {
  if (!concerns(w.plural) || w.ns != instances_ns) return;
  cluster_facts& c = clusters_[cluster];
  const id of{std::string(w.plural), std::string(w.name)};
  if (w.type == k8s::sim::write_type::deleted) return saw_deletion(c, of, w);
  const json::object& o = *w.after;
  thing& is = c.things[of];
  const thing before = is;
  const std::vector<std::string> controllers = controllers_of(o);
  is.uid = k8s::sim::text(o, {"metadata", "uid"});
  is.created = k8s::sim::text(o, {"metadata", "creationTimestamp"});
  is.controller = controllers.empty() ? std::string() : controllers.front();
  c.by_uid[is.uid] = of;
  judge_owners(c, of, before, w);
  if (of.first == secrets && of.second.ends_with(key_pair)) judge_keys(c, of, w);
  if (of.first == deployments) {
    judge_inputs(c, of, w);
    judge_image(c, of, w);
  }
  if (!by_person_ && !is.mark.empty() && !has_mark(w.plural, o, is.mark))
    violated(c, of, "has lost what a person has written");
  if (of.first != configs) return;
  instance_facts& one = c.instances[of.second];
  one.version = k8s::sim::text(o, {"spec", "version"});
  one.instance_name = k8s::sim::text(o, {"spec", "instanceName"});
  one.deleting = !k8s::sim::text(o, {"metadata", "deletionTimestamp"}).empty();
  one.ready = k8s::sim::flag(o, {"status", "isReady"});
  one.says = k8s::sim::text(o, {"status", "statusDescription"});
}

void trustee_invariants::saw_deletion(cluster_facts& c, const id& of, const k8s::sim::written&) {
  const auto found = c.things.find(of);
  if (found == c.things.end()) return;
  const thing was = std::move(found->second);
  c.things.erase(found);
  c.by_uid.erase(was.uid);
  if (of.first == configs) c.instances.erase(of.second);
  if (of.first == deployments) c.images.erase(of.second);
  c.gone_since[of] = now_();
  if (!by_person_ && !was.mark.empty() && c.by_uid.contains(was.controller))
    violated(c, of, "is deleted, and what a person has written with it");
}

void trustee_invariants::judge_owners(const cluster_facts& c, const id& of, const thing& before,
                                      const k8s::sim::written& w) {
  const std::vector<std::string> now = controllers_of(*w.after);
  if (now.size() > 1) violated(c, of, "has two controllers");
  if (now.empty() || before.controller.empty() || now.front() == before.controller) return;
  const auto former = c.by_uid.find(before.controller), next = c.by_uid.find(now.front());
  if (former == c.by_uid.end() || next == c.by_uid.end()) return;
  const auto age = [&](const id& one) {
    return std::pair(c.things.find(one)->second.created, one.second);
  };
  if (age(former->second) < age(next->second))
    violated(c, of,
             "goes from " + former->second.second + ", which is there, to " + next->second.second);
}

void trustee_invariants::judge_keys(const cluster_facts& c, const id& of,
                                    const k8s::sim::written& w) {
  constexpr std::array<std::string_view, 2> halves = {"publicKey", "privateKey"};
  for (const std::string_view half : halves) {
    const std::string_view is = k8s::sim::text(*w.after, {"data", half});
    if (is.empty()) violated(c, of, "lacks its " + std::string(half));
    if (!w.before || by_person_) continue;
    const std::string_view was = k8s::sim::text(*w.before, {"data", half});
    if (!was.empty() && was != is) violated(c, of, "has another " + std::string(half));
  }
}

void trustee_invariants::judge_inputs(const cluster_facts& c, const id& of,
                                      const k8s::sim::written& w) {
  if (by_person_) return;
  const json::value* is = k8s::sim::find(*w.after, {"spec", "template"});
  const json::value* was = w.before ? k8s::sim::find(*w.before, {"spec", "template"}) : nullptr;
  if (!is || (was && k8s::sim::same(*is, *was))) return;
  const json::array* volumes =
      k8s::sim::find_array(*w.after, {"spec", "template", "spec", "volumes"});
  if (!volumes) return;
  for (const json::value& v : *volumes) {
    if (!v.is_object()) continue;
    const json::object& volume = v.get_object();
    const std::pair<const char*, std::string_view> named[] = {
        {config_maps, k8s::sim::text(volume, {"configMap", "name"})},
        {secrets, k8s::sim::text(volume, {"secret", "secretName"})},
        {"persistentvolumeclaims", k8s::sim::text(volume, {"persistentVolumeClaim", "claimName"})}};
    for (const auto& [plural, name] : named) {
      const id input{plural, std::string(name)};
      if (name.empty() || c.things.contains(input)) continue;
      const auto gone = c.gone_since.find(input);
      if (gone != c.gone_since.end() && now_() - gone->second < forgiven_for) continue;
      violated(c, of,
               "gets pods that need " + input.first + " " + input.second + ", which is not there");
    }
  }
}

void trustee_invariants::judge_image(cluster_facts& c, const id& of, const k8s::sim::written& w) {
  const json::array* all =
      k8s::sim::find_array(*w.after, {"spec", "template", "spec", "containers"});
  const std::string image(all && !all->empty() && all->front().is_object()
                              ? k8s::sim::text(all->front().get_object(), {"image"})
                              : std::string_view());
  std::string& known = c.images[of.second];
  if (image == known) return;
  known = image;
  const bool named = image.starts_with(mounted_catalogue::first_registry) ||
                     image.starts_with(mounted_catalogue::other_registry);
  if (!named && !by_person_) violated(c, of, "gets the image '" + image + "'");
}

void trustee_invariants::check_at_rest() {
  for (const cluster_facts& c : clusters_)
    for (const auto& [of, is] : c.things)
      if (!is.controller.empty() && !c.by_uid.contains(is.controller))
        violated(c, of, "is left by an instance that is gone");
}

bool trustee_invariants::is_rival(const cluster_facts& c, const std::string& name,
                                  const instance_facts& one) const {
  const auto age = [&](const std::string& of) {
    const id config{"kbsconfigs", of + "-kbs-config"};
    const auto made = c.things.find(config);
    return std::tuple(made == c.things.end(), made == c.things.end() ? "" : made->second.created,
                      config.second);
  };
  return std::ranges::any_of(c.instances, [&](const auto& other) {
    return other.second.instance_name == one.instance_name && age(other.first) < age(name);
  });
}

std::string trustee_invariants::lacks(const cluster_facts& c, const std::string& name,
                                      const instance_facts& one) const {
  if (one.deleting) return "is not gone";
  if (is_rival(c, name, one)) return one.ready ? "is Ready beside an older one" : "";
  if (!one.ready) return "is not Ready (" + one.says + ")";
  const auto image = c.images.find("trustee-deployment-" + one.instance_name);
  if (image == c.images.end()) return "has no Deployment";
  if (!image->second.starts_with(registry_) || !image->second.ends_with(one.version))
    return "has the image " + image->second;
  return {};
}

std::size_t trustee_invariants::instances() const {
  std::size_t n = 0;
  for (const cluster_facts& c : clusters_) n += c.instances.size();
  return n;
}

std::size_t trustee_invariants::arrived() const {
  std::size_t n = 0;
  for (const cluster_facts& c : clusters_)
    for (const auto& [name, one] : c.instances) n += lacks(c, name, one).empty();
  return n;
}

std::string trustee_invariants::unfinished() const {
  std::string out;
  for (const cluster_facts& c : clusters_)
    for (const auto& [name, one] : c.instances)
      if (const std::string why = lacks(c, name, one); !why.empty())
        out += (out.empty() ? "" : "; ") + c.name + " " + name + " " + why;
  return out;
}

void trustee_invariants::violated(const cluster_facts& c, const id& of,
                                  const std::string& sentence) {
  found(c.name + ": " + of.first + " " + of.second + " " + sentence);
}

}  // namespace simulation
