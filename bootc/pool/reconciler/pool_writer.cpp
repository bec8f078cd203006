#include "bootc/pool/reconciler/pool_writer.hpp"

#include "app/api/override_order.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/event_filter.hpp"
#include "bootc/pool/events/image_history.hpp"
#include "bootc/pool/reconciler/action_patch.hpp"
#include "bootc/pool/reconciler/pass_steps.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/client/race.hpp"
#include "reactor/loop.hpp"

#include <boost/json/array.hpp>

#include <set>
#include <utility>

namespace bootc {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// kube-apiserver gives a request up after a minute (--request-timeout); what has not landed by
/// then never will.
constexpr reactor::nanoseconds longest_request = 60s;
/// A pool's kind that is older than us drops what it does not know of a status.
constexpr reactor::nanoseconds pruned_for = 10min;

/// Of every write here, beside those of the other APIs on the same cluster.
std::string manager() {
  return std::string(names::field_manager);
}

/// `object`[key], or null where there is none or `object` is none.
const json::value* member(const json::value* object, std::string_view key) noexcept {
  return object && object->is_object() ? object->get_object().if_contains(key) : nullptr;
}
std::string_view text_of(const json::value* v) noexcept {
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

/// What is read of a write's answer.
struct receipt {
  k8s::object_meta meta;
  bool has_policy_holds = false;

  static receipt parse(k8s::wire_value object) {
    receipt r;
    const auto [metadata, status] = object.fields("metadata", "status");
    const auto [uid, version] = metadata.fields("uid", "resourceVersion");
    r.meta.uid = k8s::uid(uid.text());
    r.meta.resource_version = k8s::resource_version(version.text());
    r.has_policy_holds = status["policyHolds"].kind() != k8s::wire_kind::absent;
    return r;
  }
  friend bool operator==(const receipt&, const receipt&) = default;
};

k8s::result<receipt> receipt_of(const k8s::result<std::string>& answer) {
  if (!answer) return answer.error();
  return k8s::parse_view<receipt>(*answer);
}

/// Remembers what was written to an object that `seen` had: one that is missing there now has been
/// deleted since, and nothing will be seen of it.
template <class View>
void note_patch(k8s::own_writes& writes, const k8s::store<View>& seen, const k8s::object_key& key,
                const receipt& answer) {
  if (seen.find(key)) writes.wrote(key, answer.meta.uid, answer.meta.resource_version);
}

/// It was planned before the brake, or before the speed limit was reached: to be planned again, as
/// after a write that came too late.
k8s::fault stopped_by(const units::hold& held, const action& a) {
  k8s::fault f;
  f.code = k8s::errc::conflict;
  f.http_status = 409;  // no request was sent, so none is on its way
  f.doing = std::string(text(a.kind)) + " " + a.node;
  f.detail = held.sentence;
  return f;
}

/// The names of those BootcNodes of a page that hold a slot.
void add_slots_of(const json::object& page, std::set<std::string>& into) {
  const json::array* items = k8s::items_of(page);
  if (!items) return;
  for (const json::value& item : *items) {
    const json::value* metadata = member(&item, "metadata");
    if (member(member(metadata, "annotations"), names::in_reboot_slot))
      into.emplace(text_of(member(metadata, "name")));
  }
}

}  // namespace

pool_writer::pool_writer(reactor::loop& l, k8s::client& api, cluster_views views, drains& running,
                         units::brake_question brake, const reactor::logger& log)
    : loop_(l),
      api_(api),
      views_(views),
      drains_(running),
      brake_(std::move(brake)),
      log_(log),
      pool_writes_(l, [this] { return views_.pools.history(); }),
      bootc_node_writes_(l, [this] { return views_.bootc_nodes.history(); }),
      node_writes_(l, [this] { return views_.nodes.history(); }),
      unknown_writes_land_by_(l.now() + longest_request) {}

awaitable<bool> pool_writer::sees_own_writes(std::string pool) {
  const node_pool* found = views_.pools.find("", pool);
  if (pool_writes_.is_stale({"", pool}, found ? &found->meta : nullptr)) co_return false;
  const auto is_there = [this](const k8s::object_key& key) {
    return views_.nodes.find(key) || views_.bootc_nodes.find(key);
  };
  const auto meta_in = [](const auto& store) {
    return [&store](const k8s::object_key& key) -> const k8s::object_meta* {
      const auto* view = store.find(key);
      return view ? &view->meta : nullptr;
    };
  };
  const auto object_meta = meta_in(views_.bootc_nodes);
  const auto node_meta = meta_in(views_.nodes);
  const bool object_is_old = co_await bootc_node_writes_.any_is_stale(object_meta, is_there);
  if (object_is_old) co_return false;
  const bool node_is_old = co_await node_writes_.any_is_stale(node_meta, is_there);
  co_return !node_is_old;
}

awaitable<k8s::result<bool>> pool_writer::slots_are_as_seen() {
  std::set<std::string> seen, held;
  views_.bootc_nodes.each([&](const bootc_node& b) {
    if (b.in_slot()) seen.insert(b.meta.name.str());
  });
  const bool none_under_way = loop_.now() >= unknown_writes_land_by_;
  k8s::list_options options;
  options.metadata_only = true;
  k8s::list_pages pages(api_, bootc_nodes(), std::move(options));
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) break;
    add_slots_of(**page, held);
  }
  if (held != seen) {
    log_.info("the view of the reboot slots is behind the server; no node starts",
              {{"seen", seen.size()}, {"held", held.size()}});
    co_return false;
  }
  knows_every_slot_ = none_under_way;
  co_return true;
}

void pool_writer::note_unanswered() {
  knows_every_slot_ = false;
  unknown_writes_land_by_ = loop_.now() + longest_request;
}

/// Counts the beginning, unless it is stopped. The order of a person that the plan went by may be
/// void since.
std::optional<units::stop> pool_writer::stops(const node_pool& pool) const {
  const std::string& name = pool.meta.name.str();
  if (const std::string_view noted = pool.meta.annotations.get(units::override_annotation);
      !noted.empty()) {
    const auto held = units::ask(brake_, name);
    const units::override_facts now{pool.spec.image_ref, held ? held->brake : std::string(),
                                    loop_.wall()};
    if (units::why_void(units::read_override(noted), now).empty())
      return units::begin(brake_, name, units::asking::overrides);
  }
  return units::begin(brake_, name);
}

awaitable<k8s::result<std::string>> pool_writer::carry_out(const node_pool& pool, const action& a,
                                                           json::object annotations) {
  if (begins(a))
    if (const auto held = stops(pool)) co_return stopped_by(*held, a);
  const k8s::object_key key{"", a.node};
  switch (a.kind) {
    case action_kind::cancel_drain: drains_.cancel(a.node); co_return std::string();
    case action_kind::start_drain:
      drains_.start(a.node, a.spec.desired_image, a.timeout);
      co_return std::string();

    case action_kind::add_finalizer:
    case action_kind::remove_finalizer:
    case action_kind::end_override: {
      json::object patch = a.kind == action_kind::add_finalizer  ? add_finalizer_patch(pool)
                           : a.kind == action_kind::end_override ? end_override_patch(pool)
                                                                 : remove_finalizer_patch(pool);
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          node_pools(), pool.meta.key(), std::move(patch), k8s::request_options().by(manager())));
      if (!answer) co_return answer.error();
      if (a.kind == action_kind::remove_finalizer) co_return std::string();
      pool_writes_.wrote(pool.meta.key(), pool.meta.uid, answer->meta.resource_version);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::create_node: {
      json::object body = new_bootc_node(pool, a);
      const auto answer = receipt_of(co_await api_.create_text(
          bootc_nodes(), std::string(), std::move(body), k8s::request_options().by(manager())));
      if (!answer) co_return answer.error();
      bootc_node_writes_.wrote(key, answer->meta.uid, answer->meta.resource_version);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::delete_node: {
      k8s::delete_options options;
      options.uid = a.uid;
      auto answer = co_await api_.remove(bootc_nodes(), key, std::move(options));
      if (!answer && answer.error().code != k8s::errc::not_found) co_return answer.error();
      bootc_node_writes_.removed(key, k8s::uid(a.uid));
      co_return std::string();
    }
    case action_kind::sync_spec:
    case action_kind::take_slot:
    case action_kind::free_slot:
    case action_kind::note_drain_timeout:
    case action_kind::approve:
    case action_kind::note_approval: {
      json::object patch = bootc_node_patch(a);
      if (!annotations.empty()) {
        json::value& all = patch["metadata"].as_object()["annotations"];
        if (!all.is_object()) all.emplace_object();
        for (auto& [key, value] : annotations) all.as_object()[key] = std::move(value);
      }
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          bootc_nodes(), key, std::move(patch), k8s::request_options().by(manager())));
      if (!answer) co_return answer.error();
      note_patch(bootc_node_writes_, views_.bootc_nodes, key, *answer);
      co_return answer->meta.resource_version.text();
    }
    case action_kind::label:
    case action_kind::unlabel:
    case action_kind::cordon:
    case action_kind::uncordon:
    case action_kind::shield:
    case action_kind::unshield: {
      json::object patch = node_patch(a);
      const auto answer = receipt_of(co_await api_.merge_patch_text(
          k8s::resources::nodes(), key, std::move(patch), k8s::request_options().by(manager())));
      if (!answer) co_return answer.error();
      note_patch(node_writes_, views_.nodes, key, *answer);
      co_return answer->meta.resource_version.text();
    }
  }
  co_return std::string();
}

awaitable<bool> pool_writer::write_notes(node_notes all, std::function<bool()> go_on) {
  while (!all.empty() && go_on()) {
    auto one = all.extract(all.begin());
    const k8s::object_key key{"", one.key()};
    json::object metadata, patch;
    metadata["annotations"] = std::move(one.mapped());
    patch["metadata"] = std::move(metadata);
    const auto answer = receipt_of(co_await api_.merge_patch_text(
        bootc_nodes(), key, std::move(patch), k8s::request_options().by(manager())));
    if (answer) {
      note_patch(bootc_node_writes_, views_.bootc_nodes, key, *answer);
    } else if (!k8s::is_a_race(answer.error())) {
      co_return true;  // it fails again in a second
    }
  }
  co_return all.empty();
}

awaitable<k8s::result<void>> pool_writer::write_status(node_pool pool, node_pool_status status) {
  json::object patch = status_patch(pool.status, status);
  if (patch.empty()) co_return k8s::result<void>();
  patch["metadata"] = json::object{{"resourceVersion", pool.meta.resource_version.text()}};
  written_[pool.meta.name.str()] = status;  // its event may come before its answer
  const auto answer =
      receipt_of(co_await api_.merge_patch_text(node_pools(), pool.meta.key(), std::move(patch),
                                                k8s::request_options().at("status").by(manager())));
  if (!answer) {
    written_.erase(pool.meta.name.str());
    co_return answer.error();
  }
  pool_writes_.wrote(pool.meta.key(), pool.meta.uid, answer->meta.resource_version);
  if (!status.policy_waits.empty() && !answer->has_policy_holds)
    waits_pruned_until_ = loop_.now() + pruned_for;
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> pool_writer::write_history(node_pool pool, node_pool_status status,
                                                        std::size_t at_once) {
  const k8s::object_key key = pool.meta.key();
  // The view has no managedFields, which say who asked for the image.
  auto object = co_await api_.get(node_pools(), key);
  if (!object) co_return object.error();
  json::object patch = history_patch(*object, status, at_once);
  const auto answer = receipt_of(co_await api_.merge_patch_text(
      node_pools(), key, std::move(patch), k8s::request_options().by(manager())));
  if (!answer) co_return answer.error();
  pool_writes_.wrote(key, answer->meta.uid, answer->meta.resource_version);
  co_return k8s::result<void>();
}

const node_pool_status* pool_writer::unseen_status(const std::string& pool) const {
  const auto written = written_.find(pool);
  return written == written_.end() ? nullptr : &written->second;
}

bool pool_writer::drops_policy_holds() const {
  return loop_.now() < waits_pruned_until_;
}

}  // namespace bootc
