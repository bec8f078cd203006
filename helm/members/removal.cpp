#include "helm/members/removal.hpp"

#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli {
namespace {

namespace json = boost::json;
using kind_of = planned_change::kind_of;

const k8s::resource& pools() {
  static const k8s::resource instance{"node.bootc.dev", "v1alpha1", "bootcnodepools",
                                      "BootcNodePool", false};
  return instance;
}

}  // namespace

removal::removal(reactor::loop& l, k8s::connection home, removal_request wanted)
    : loop_(l), wanted_(std::move(wanted)), home_(l, std::move(home)) {
  if (wanted_.member) member_.emplace(l, *wanted_.member);
}

reactor::awaitable<void> removal::stop() {
  if (member_) co_await member_->stop();
  co_await home_.stop();
}

reactor::awaitable<reactor::result<void>> removal::look() {
  secret_place at = wanted_.at;
  std::string name = wanted_.name;
  auto there = co_await find_member(home_, std::move(at), std::move(name));
  if (!there)
    co_return sentence("at home: " +
                       explained(there.error(), "get", k8s::resources::secrets(),
                                 "in " + wanted_.at.ns + " to see which clusters there are"));
  if (!*there && !member_)
    co_return sentence("the fleet has no cluster \"" + wanted_.name + "\" in " + wanted_.at.ns +
                       "; `windlass cluster list` shows them");
  if (*there && !(*there)->member)
    co_return sentence("Secret " + wanted_.at.ns + "/" + wanted_.name +
                       " was not written by `windlass cluster add`, so it is not touched: kubectl "
                       "-n " +
                       wanted_.at.ns + " delete secret " + wanted_.name);
  if (*there) {
    uid_ = (*there)->member->cluster_uid;
    changes_.push_back({.kind = "Secret",
                        .key = {wanted_.at.ns, wanted_.name},
                        .does = kind_of::remove,
                        .at_home = true});
    kinds_.push_back(k8s::resources::secrets());
  }
  if (member_) {
    auto looked = co_await look_at_member();
    co_return looked;
  }
  notes_.push_back(
      "on the cluster itself everything stays: kinds, rights, daemons and pools; name "
      "its context as well to take away what `windlass cluster add` installed");
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<void>> removal::look_at_member() {
  auto uid = co_await uid_of(*member_);
  if (!uid)
    co_return sentence("cannot use " + wanted_.name + " at " + member_->server() + ": " +
                       uid.error().message());
  if (!uid_.empty() && *uid != uid_)
    co_return sentence("the context leads to another cluster than \"" + wanted_.name +
                       "\": nothing was touched");
  auto objects = member_objects(wanted_.install);
  if (!objects) co_return objects.error();
  for (member_object& o : earlier_daemons(wanted_.install.ns)) objects->push_back(std::move(o));
  std::ranges::reverse(*objects);
  const bool kinds_go = wanted_.crds == removal_request::kinds::remove;
  for (const member_object& o : *objects) {
    if (o.what.kind == "Namespace" || (o.what == k8s::resources::crds() && !kinds_go)) continue;
    k8s::resource what = o.what;
    k8s::object_key key = o.key;
    auto there = co_await find_object(*member_, std::move(what), std::move(key));
    if (!there)
      co_return sentence("on " + wanted_.name + ": " +
                         explained(there.error(), "get", o.what, "to see what is there"));
    if (!*there) continue;
    changes_.push_back({o.what.kind, o.key, kind_of::remove});
    kinds_.push_back(o.what);
  }
  k8s::list_options all;
  auto left = co_await member_->list(pools(), std::move(all));
  // Kinds go with all objects of theirs.
  if (!left && kinds_go && left.error().code != k8s::errc::not_found)
    co_return sentence("on " + wanted_.name + ": " +
                       explained(left.error(), "list", pools(), "to see whether pools are left"));
  const json::value* items = left ? left->if_contains("items") : nullptr;
  const std::size_t n = items && items->is_array() ? items->get_array().size() : 0;
  if (n > 0 && kinds_go)
    co_return sentence(wanted_.name + " has " + std::to_string(n) + (n == 1 ? " pool" : " pools") +
                       ": delete them first, while the service still lets their nodes go; "
                       "--delete-crds would leave them behind for ever");
  if (n > 0)
    notes_.push_back(
        std::to_string(n) + (n == 1 ? " pool stays" : " pools stay") +
        " without a service to move it: nodes keep what they run, their labels and cordons");
  notes_.push_back("namespace " + wanted_.install.ns +
                   (kinds_go ? " stays" : " and the kinds stay"));
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<void>> removal::write() {
  wrote_ = true;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    planned_change& c = changes_[i];
    k8s::client& on = c.at_home ? home_ : *member_;
    k8s::resource what = kinds_[i];
    k8s::object_key key = c.key;
    auto done = co_await on.remove(std::move(what), std::move(key));
    if (done || done.error().code == k8s::errc::not_found) {
      c.done = true;
      continue;
    }
    c.error = explained(done.error(), "delete", kinds_[i], "to take it away");
    co_return sentence((c.at_home ? "at home: " : "on " + wanted_.name + ": ") + c.error);
  }
  co_return reactor::result<void>();
}

json::object removal::document() const {
  return document_of(wanted_.name, member_ ? member_->server() : std::string());
}

}  // namespace cli
