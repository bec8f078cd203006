#include "helm/tenants/home/remembered_places.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace helm::tenants {
namespace {

namespace json = boost::json;
using reactor::awaitable;

/// No namespace, and so no release in the same ledger, begins like this.
constexpr std::string_view places_prefix = "_places.";

std::string places_key(const k8s::object_key& object) {
  return std::string(places_prefix) + object.ns + "." + object.name;
}

}  // namespace

object_places read_places(std::string_view text) {
  object_places out;
  boost::system::error_code wrong;
  const json::value read = json::parse(text, wrong);
  if (wrong || !read.is_object()) return out;
  const json::value* uid = read.get_object().if_contains("uid");
  const json::value* targets = read.get_object().if_contains("targets");
  if (!uid || !uid->is_string() || !targets || !targets->is_array()) return out;
  out.uid = uid->get_string();
  for (const json::value& one : targets->get_array()) {
    const std::string where = one.is_string() ? std::string(one.get_string()) : std::string();
    const std::size_t slash = where.find('/');
    if (slash != where.npos)
      out.targets.push_back({where.substr(0, slash), where.substr(slash + 1)});
  }
  return out;
}

std::string write_places(const object_places& places) {
  json::array targets;
  for (const k8s::object_key& target : places.targets)
    targets.emplace_back(target.ns + "/" + target.name);
  json::object o;
  o["uid"] = places.uid;
  o["targets"] = std::move(targets);
  return json::serialize(o);
}

object_places places_after(object_places now, const object_places& known,
                           const std::optional<k8s::object_key>& left) {
  if (now.uid != known.uid) return known.targets.empty() ? now : known;
  if (left) std::erase(now.targets, *left);
  for (const k8s::object_key& target : known.targets)
    if (std::ranges::find(now.targets, target) == now.targets.end()) now.targets.push_back(target);
  return now;
}

awaitable<k8s::result<void>> remembered_places::load() {
  auto all = co_await in_.read_all();
  if (!all) co_return all.error();
  for (const auto& [key, text] : *all)
    if (key.starts_with(places_prefix)) all_.insert_or_assign(key, read_places(text));
  co_return k8s::result<void>();
}

const std::vector<k8s::object_key>& remembered_places::of(const k8s::object_key& object,
                                                          const k8s::uid& uid) const {
  static const std::vector<k8s::object_key> nowhere;
  const auto found = all_.find(places_key(object));
  return found == all_.end() || found->second.uid != uid.text() ? nowhere : found->second.targets;
}

awaitable<k8s::result<void>> remembered_places::add(k8s::object_key object, k8s::uid uid,
                                                    k8s::object_key target) {
  object_places& places = all_[places_key(object)];
  if (places.uid != uid.text()) places = {uid.text(), {}};
  if (std::ranges::find(places.targets, target) != places.targets.end())
    co_return k8s::result<void>();
  places.targets.push_back(std::move(target));
  co_return co_await save(std::move(object), std::nullopt);
}

awaitable<k8s::result<void>> remembered_places::remove(k8s::object_key object,
                                                       k8s::object_key target) {
  const auto found = all_.find(places_key(object));
  if (found == all_.end() || std::erase(found->second.targets, target) == 0)
    co_return k8s::result<void>();
  co_return co_await save(std::move(object), std::move(target));
}

awaitable<k8s::result<void>> remembered_places::forget(k8s::object_key object) {
  const auto known = all_.extract(places_key(object));
  if (!known) co_return k8s::result<void>();
  ledger::edit how = [uid = known.mapped().uid](const ledger::text& now) {
    return now && read_places(*now).uid == uid ? ledger::text() : now;
  };
  auto written = co_await in_.change(known.key(), std::move(how));
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> remembered_places::save(k8s::object_key object,
                                                     std::optional<k8s::object_key> left) {
  std::string key = places_key(object);
  ledger::edit how = [known = all_[key], left = std::move(left)](const ledger::text& now) {
    const object_places all = places_after(now ? read_places(*now) : object_places(), known, left);
    return all.targets.empty() ? ledger::text() : ledger::text(write_places(all));
  };
  auto written = co_await in_.change(std::move(key), std::move(how));
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

}  // namespace helm::tenants
