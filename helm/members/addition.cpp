// The steps of adding one member, in their order; each goes on from what the step before it found.
#include "helm/members/addition.hpp"

#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/client/wiping_json.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using kind_of = planned_change::kind_of;

// A binding that was just made is known to the server's authorizer a moment later, and a kind is
// served.
constexpr reactor::nanoseconds authorizer_patience = 15s, look_again = 500ms;
constexpr reactor::nanoseconds first_answer = 10s;
/// On the member's ClusterRoleBindings, which have one name in whichever namespace it is installed:
/// the UID of the home that has it in its fleet, and the namespace of the fleet.
constexpr std::string_view home_annotation = "windlass.dev/home";

bool is_loopback(const std::string& server) {
  const auto origin = reactor::http::parse_origin(server);
  if (!origin) return false;
  const std::string& host = origin->host;
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string home_of(const json::object& there) {
  boost::system::error_code none;
  const json::value all(there);
  const auto* found = all.find_pointer("/metadata/annotations", none);
  const auto* said =
      found && found->is_object() ? found->get_object().if_contains(home_annotation) : nullptr;
  return said && said->is_string() ? std::string(said->get_string()) : std::string();
}

/// The connection that the service will use, without anything of the person's.
k8s::connection as_service(const addition_request& r) {
  k8s::connection to;
  to.server = r.server.empty() ? r.member.server : r.server;
  to.tls_server_name = r.member.tls_server_name;
  to.insecure = r.member.insecure;
  to.ca.bytes = r.member.ca.bytes;
  to.proxy_url = r.member.proxy_url;
  return to;
}

}  // namespace

std::string_view words_for(const planned_change& c) {
  if (!c.error.empty()) return "failed";
  switch (c.does) {
    case kind_of::none: return "same";
    case kind_of::create: return c.done ? "created" : "create";
    case kind_of::update: return c.done ? "changed" : "change";
    case kind_of::remove: return c.done ? "removed" : "remove";
  }
  return "";
}

addition::addition(reactor::loop& l, k8s::connection home, addition_request wanted)
    : loop_(l),
      wanted_(std::move(wanted)),
      home_(l, std::move(home)),
      member_(l, wanted_.member),
      discovery_(member_) {}

reactor::awaitable<void> addition::stop() {
  co_await member_.stop();
  co_await home_.stop();
}

reactor::fault addition::at_member(const k8s::fault& f) const {
  return sentence("cannot use " + wanted_.name + " at " + member_.server() + ": " + f.message());
}

bool cluster_change::has_work() const noexcept {
  return std::ranges::any_of(changes_,
                             [](const planned_change& c) { return c.does != kind_of::none; });
}

page cluster_change::text_of(const std::string& cluster, std::size_t columns) const {
  table t({"WHERE", "KIND", "NAME", wrote_ ? "RESULT" : "WOULD BE"});
  for (const planned_change& c : changes_)
    t.row({c.at_home ? std::string("home") : cluster, c.kind, c.key.text(),
           std::string(words_for(c))});
  page out = t.text({}, columns);
  for (const std::string& note : notes_) out += folded(page("Note: ") + note + "\n", columns, 6);
  return out;
}

json::object cluster_change::document_of(const std::string& cluster,
                                         const std::string& server) const {
  json::array changes, notes;
  for (const planned_change& c : changes_) {
    json::object one{{"where", c.at_home ? "home" : "member"}, {"kind", c.kind}};
    if (!c.key.ns.empty()) one["namespace"] = c.key.ns;
    one["name"] = c.key.name;
    one["action"] = words_for(c);
    if (!c.error.empty()) one["error"] = c.error;
    changes.push_back(std::move(one));
  }
  for (const std::string& note : notes_) notes.push_back(json::value(note));
  return cli::document("ClusterChange", {{"cluster", cluster},
                                         {"server", server},
                                         {"dryRun", !wrote_},
                                         {"changes", std::move(changes)},
                                         {"notes", std::move(notes)}});
}

reactor::awaitable<reactor::result<void>> addition::look() {
  changes_.clear();
  notes_.clear();
  predecessors_.clear();
  auto objects = member_objects(wanted_.install);
  if (!objects) co_return objects.error();
  objects_ = std::move(*objects);
  auto marked = co_await mark_home();
  if (!marked) co_return marked.error();
  auto member = co_await look_at_member();
  if (!member) co_return member.error();
  auto home = co_await look_at_home();
  co_return home;
}

/// Two services that know nothing of each other would move the same nodes, so a member says whose
/// it is.
reactor::awaitable<reactor::result<void>> addition::mark_home() {
  auto uid = co_await uid_of(home_);
  if (!uid && uid.error().code != k8s::errc::forbidden)
    co_return sentence("at home: " + explained(uid.error(), "get", k8s::resources::namespaces(),
                                               "to mark the member as one of this home"));
  if (!uid) co_return reactor::result<void>();
  home_mark_ = *uid + "/" + wanted_.at.ns;
  for (member_object& o : objects_)
    if (o.what.kind == "ClusterRoleBinding")
      o.body["metadata"].as_object()["annotations"].emplace_object()[home_annotation] = home_mark_;
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<void>> addition::look_at_member() {
  auto version = co_await discovery_.read_version(first_answer);
  if (!version) co_return at_member(version.error());
  if (!version->at_least(1, 30))
    co_return sentence(wanted_.name + " is " + version->git_version +
                       "; before 1.30 one node's daemon could not be told from another's");
  auto uid = co_await uid_of(member_);
  if (!uid)
    co_return sentence(explained(uid.error(), "get", k8s::resources::namespaces(),
                                 "to know the cluster by the uid of kube-system"));
  uid_ = *uid;
  auto original = co_await look_at_predecessor();
  if (!original) co_return original.error();
  auto earlier = co_await look_at_earlier_daemons();
  if (!earlier) co_return earlier.error();
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    auto looked = co_await look_at_object(i);
    if (!looked) co_return looked.error();
  }
  const std::string& server = wanted_.server.empty() ? wanted_.member.server : wanted_.server;
  if (is_loopback(server))
    notes_.push_back(server +
                     " is an address of this machine: a service elsewhere does not reach "
                     "it; --server says how it does");
  if (wanted_.member.insecure)
    notes_.push_back(
        "its certificate is not verified (insecure-skip-tls-verify), neither by the "
        "service");
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<std::optional<json::object>>> addition::find_on_member(
    k8s::resource what, k8s::object_key key, std::string_view who_is) {
  k8s::resource asked = what;
  auto there = co_await find_object(member_, std::move(asked), std::move(key));
  if (!there)
    co_return sentence(
        "on " + wanted_.name + ": " +
        explained(there.error(), "get", what, "to see whether " + std::string(who_is) + " there"));
  co_return std::move(*there);
}

/// The original must not go on beside the daemons of Windlass, which its controller would command.
reactor::awaitable<reactor::result<void>> addition::look_at_predecessor() {
  std::string left_behind;
  const bool takes_over = wanted_.original == addition_request::predecessor::take_over;
  std::vector<predecessor_object> all = predecessor_objects(wanted_.install.ns);
  for (predecessor_object& o : all) {
    auto there = co_await find_on_member(o.what, o.key, "the original bootc-operator is");
    if (!there) co_return there.error();
    if (!*there || !is_predecessors(o.what, **there)) continue;
    if (!takes_over && o.acts)
      co_return sentence("on " + wanted_.name + ": the original bootc-operator is installed (" +
                         o.what.kind + " " + o.key.text() +
                         "); --take-over takes its place, see docs/migrating/bootc-operator.md");
    if (takes_over) {
      changes_.push_back({o.what.kind, o.key, kind_of::remove});
      predecessors_.push_back(std::move(o));
    } else {
      left_behind += (left_behind.empty() ? "" : ", ") + o.what.kind + " " + o.key.text();
    }
  }
  if (!left_behind.empty())
    notes_.push_back("the original bootc-operator left behind: " + left_behind +
                     "; --take-over takes it away");
  co_return reactor::result<void>();
}

/// Two daemons on a node would act for one BootcNode, so those of an earlier version end first.
reactor::awaitable<reactor::result<void>> addition::look_at_earlier_daemons() {
  std::vector<member_object> all = earlier_daemons(wanted_.install.ns);
  for (member_object& o : all) {
    auto there = co_await find_on_member(o.what, o.key, "daemons of an earlier version are");
    if (!there) co_return there.error();
    // Without daemons there is nothing to move; those of the original have been noted already.
    if (!*there || std::ranges::any_of(predecessors_, [&](const predecessor_object& p) {
          return p.what == o.what && p.key == o.key;
        }))
      break;
    if (o.what.kind == "DaemonSet") earlier_images_ = container_images(**there);
    changes_.push_back({o.what.kind, o.key, kind_of::remove});
    predecessors_.push_back({o.what, o.key, true});
  }
  co_return reactor::result<void>();
}

bool addition::takes_away(const member_object& o) const {
  return std::ranges::any_of(predecessors_, [&](const predecessor_object& p) {
    return p.what == o.what && p.key == o.key;
  });
}

void addition::note_changed_images(const std::map<std::string, std::string>& there,
                                   const std::map<std::string, std::string>& then) {
  for (const auto& [container, image] : then) {
    const auto before = there.find(container);
    if (before != there.end() && before->second != image)
      notes_.push_back("the daemons' image changes from " + before->second + " to " + image);
  }
}

reactor::awaitable<reactor::result<void>> addition::look_at_object(std::size_t i) {
  const member_object& o = objects_[i];
  planned_change c{o.what.kind, o.key};
  if (takes_away(o)) {
    c.does = kind_of::create;
    changes_.push_back(std::move(c));
    co_return reactor::result<void>();
  }
  k8s::resource what = o.what;
  k8s::object_key key = o.key;
  auto there = co_await find_object(member_, std::move(what), std::move(key));
  if (!there)
    co_return sentence(
        "on " + wanted_.name + ": " +
        explained(there.error(), "get", objects_[i].what, "to see what is there already"));
  if (o.what.kind == "DaemonSet" && wanted_.install.image.empty()) {
    const auto images = *there ? container_images(**there) : earlier_images_;
    const bool has_images = keep_images(objects_[i].body, images);
    if (!has_images)
      co_return sentence(
          "the daemons need an image that the nodes of " + wanted_.name +
          " can pull: --image REGISTRY/windlass:" WINDLASS_VERSION
          " (`./dev image` makes it), or --no-daemon where the nodes run windlass-daemon.service; "
          "nothing was written");
  }
  if (o.what.kind == "DaemonSet" && *there)
    note_changed_images(container_images(**there), container_images(o.body));
  const std::string home = *there ? home_of(**there) : std::string();
  const bool is_of_another = !home.empty() && !home_mark_.empty() && home != home_mark_;
  if (is_of_another && wanted_.original != addition_request::predecessor::take_over)
    co_return sentence("on " + wanted_.name +
                       ": it is in the fleet of another home, whose kube-system has this UID, in "
                       "this namespace: " +
                       home +
                       "; two services would move the same nodes. Remove it there, or "
                       "--take-over takes it into this fleet");
  if (*there && wanted_.install.pull_secrets.empty() && is_pull_secret_role(o))
    keep_pull_secrets(objects_[i], **there);
  if (!*there) {
    c.does = kind_of::create;
  } else {
    what = objects_[i].what;
    key = objects_[i].key;
    json::object body = objects_[i].body;
    auto then = co_await member_.rehearse(std::move(what), std::move(key), std::move(body));
    if (!then)
      co_return sentence(
          "on " + wanted_.name + ": " +
          explained(then.error(), "patch", objects_[i].what, "to install what a member needs"));
    if (!same_content(**there, std::move(*then))) c.does = kind_of::update;
  }
  changes_.push_back(std::move(c));
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<void>> addition::look_at_home() {
  secret_place at = wanted_.at;
  auto members = co_await all_members(home_, std::move(at));
  if (!members)
    co_return sentence("at home: " +
                       explained(members.error(), "list", k8s::resources::secrets(),
                                 "in " + wanted_.at.ns + " to see which clusters there are"));
  for (const noted_member& m : *members)
    if (m.name != wanted_.name && m.member && m.member->cluster_uid == uid_)
      co_return sentence("this cluster is in the fleet already, as \"" + m.name + "\"");
  if (members->empty())
    notes_.push_back(
        "this is the first kubeconfig Secret in " + wanted_.at.ns +
        ": while there was none, home itself was the fleet, and it leaves when the service starts "
        "again; add home's own context as well if its nodes are to be moved");
  at = wanted_.at;
  std::string name = wanted_.name;
  auto there = co_await find_member(home_, std::move(at), std::move(name));
  if (!there)
    co_return sentence("at home: " +
                       explained(there.error(), "get", k8s::resources::secrets(),
                                 "in " + wanted_.at.ns + " to see which clusters there are"));
  planned_change c{.kind = "Secret", .key = {wanted_.at.ns, wanted_.name}, .at_home = true};
  if (!*there) {
    c.does = kind_of::create;
  } else if (!(*there)->member) {
    co_return sentence("Secret " + c.key.text() +
                       " was not written by `windlass cluster add`, so it is not touched; choose "
                       "another --name");
  } else if (!(*there)->member->cluster_uid.empty() && (*there)->member->cluster_uid != uid_) {
    co_return sentence("\"" + wanted_.name +
                       "\" is another cluster of the fleet; choose another --name");
  } else {
    token_ = (*there)->member;
    c.does = keeps_token(**there) ? kind_of::none : kind_of::update;
  }
  changes_.push_back(std::move(c));
  // Two services for the same pools would undo each other's work.
  auto home_uid = co_await uid_of(home_);
  if (home_uid && *home_uid != uid_) {
    const k8s::resource deployments{"apps", "v1", "deployments", "Deployment", true};
    k8s::object_key key = own_controller(wanted_.install.ns);
    auto own = co_await find_object(member_, deployments, std::move(key));
    if (own && *own && !is_predecessors(deployments, **own))
      notes_.push_back("a service of its own is installed there (Deployment " +
                       own_controller(wanted_.install.ns).text() +
                       "): two would move the same pools; take it away first");
  }
  co_return reactor::result<void>();
}

/// The Secret is as it would be written, and its token has half of its life before it.
bool addition::keeps_token(const noted_member& there) const {
  const k8s::member_token& m = *there.member;
  k8s::kubeconfig_options reading;
  reading.source = "Secret";
  const auto to = k8s::load_kubeconfig(there.kubeconfig.reveal(), std::move(reading));
  auto labels = wanted_.labels, have = there.labels;
  std::ranges::sort(labels);
  std::ranges::sort(have);
  const bool fresh = loop_.wall() < m.issued + (m.expires - m.issued) / 2;
  return to && fresh && there.in_fleet && labels == have && m.life == wanted_.token_life &&
         m.account == member_account(wanted_.install) && m.cluster_uid == uid_ &&
         k8s::member_kubeconfig(as_service(wanted_), wanted_.name, to->token.bytes) ==
             there.kubeconfig;
}

reactor::awaitable<reactor::result<void>> addition::write() {
  wrote_ = true;
  auto gone = co_await take_predecessor_away();
  if (!gone) co_return gone.error();
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    planned_change& c = changes_[predecessors_.size() + i];
    if (c.does == kind_of::none) continue;
    k8s::resource what = objects_[i].what;
    k8s::object_key key = objects_[i].key;
    json::object body = objects_[i].body;
    auto done = co_await member_.apply(std::move(what), std::move(key), std::move(body));
    if (done) {
      c.done = true;
      continue;
    }
    c.error = explained(done.error(), "create and patch", objects_[i].what,
                        "to install what a member needs");
    co_return sentence("on " + wanted_.name + ": " + c.error);
  }
  co_await wait_for_kinds();
  if (changes_.back().does == kind_of::none) co_return reactor::result<void>();
  auto noted = co_await write_secret();
  if (!noted) changes_.back().error = noted.error().detail;
  co_return noted;
}

reactor::awaitable<reactor::result<void>> addition::take_predecessor_away() {
  for (std::size_t i = 0; i < predecessors_.size(); ++i) {
    planned_change& c = changes_[i];
    k8s::resource what = predecessors_[i].what;
    k8s::object_key key = predecessors_[i].key;
    auto done = co_await member_.remove(std::move(what), std::move(key));
    if (done || done.error().code == k8s::errc::not_found) {
      c.done = true;
      continue;
    }
    c.error = explained(done.error(), "delete", predecessors_[i].what,
                        "to take the place of the original bootc-operator");
    co_return sentence("on " + wanted_.name + ": " + c.error);
  }
  co_return reactor::result<void>();
}

/// Until they are served: the next reader must not find them missing.
reactor::awaitable<void> addition::wait_for_kinds() {
  const reactor::steady_time deadline = loop_.now() + authorizer_patience;
  for (;;) {
    auto known = co_await discovery_.refresh();
    if (known && discovery_.has_api_version("node.bootc.dev/v1alpha1")) co_return;
    if (loop_.now() >= deadline) {
      notes_.push_back("the kinds are not served yet");
      co_return;
    }
    co_await loop_.sleep_for(look_again);
  }
}

reactor::awaitable<reactor::result<void>> addition::write_secret() {
  k8s::object_key account = member_account(wanted_.install);
  auto token =
      co_await k8s::request_token(member_, std::move(account), wanted_.token_life, loop_.wall());
  if (!token)
    co_return sentence("on " + wanted_.name + ": " +
                       explained(token.error(), "create", k8s::resources::service_accounts(),
                                 "(serviceaccounts/token) to make the token for home"));
  k8s::connection as = as_service(wanted_);
  k8s::issued_token tried = *token;
  auto works = co_await try_token(std::move(as), std::move(tried));
  if (!works) co_return works.error();
  const reactor::secret kubeconfig =
      k8s::member_kubeconfig(as_service(wanted_), wanted_.name, token->text);
  k8s::member_token m;
  m.account = member_account(wanted_.install);
  m.cluster_uid = uid_;
  m.life = wanted_.token_life;
  m.issued = token->issued;
  m.expires = token->expires;
  m.kubeconfig_hash = formats::sha256_hex(kubeconfig.reveal());
  const json::storage_ptr wiped = k8s::wiping_storage();
  json::object labels, metadata, data(wiped), body(wiped);
  for (const auto& [key, text] : wanted_.labels) labels[key] = text;
  labels[wanted_.at.label] = "true";
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = k8s::annotations_of(m);
  std::string coded = formats::encode_base64(kubeconfig.reveal());
  data[wanted_.at.key] = coded;
  reactor::wipe(coded);
  body["metadata"] = std::move(metadata);
  body["type"] = "Opaque";
  body["data"] = std::move(data);
  k8s::object_key key = changes_.back().key;
  auto done = co_await home_.apply(k8s::resources::secrets(), std::move(key), std::move(body));
  if (!done)
    co_return sentence("at home: " +
                       explained(done.error(), "create and patch", k8s::resources::secrets(),
                                 "in " + wanted_.at.ns + " to put the member's kubeconfig there"));
  changes_.back().done = true;
  token_ = m;
  co_return reactor::result<void>();
}

/// With the token, as the service will come: it is let in, and has its rights.
reactor::awaitable<reactor::result<void>> addition::try_token(k8s::connection as,
                                                              k8s::issued_token token) {
  // The address that the service uses may not be reachable from here.
  as.server = wanted_.member.server;
  as.token.bytes = token.text;
  k8s::client api(loop_, std::move(as));
  const reactor::steady_time deadline = loop_.now() + authorizer_patience;
  std::string refused;
  for (;;) {
    refused.clear();
    auto uid = co_await uid_of(api);
    if (uid && *uid != uid_) refused = "the token belongs to another cluster";
    if (!uid) refused = uid.error().message();
    if (refused.empty()) {
      std::vector<right> wanted = rights_of_service(member_account(wanted_.install));
      auto missing = co_await missing_rights(api, std::move(wanted));
      missing_ = missing ? std::move(*missing) : std::vector<right>();
      if (missing && missing_.empty()) break;
    }
    if (loop_.now() >= deadline) break;
    co_await loop_.sleep_for(look_again);
  }
  co_await api.stop();
  if (refused.empty()) co_return reactor::result<void>();
  co_return sentence("on " + wanted_.name + ": the new token is not let in: " + refused);
}

page addition::text(std::size_t columns) const {
  page out = text_of(wanted_.name, columns);
  for (const right& r : missing_)
    out += folded(page("Missing there: ") + r.text() + ", " + r.why + "\n", columns, 2);
  const bool stands = wrote_ && std::ranges::all_of(changes_, [](const planned_change& c) {
                        return c.does == kind_of::none || c.done;
                      });
  if (stands && token_)
    out += page(wanted_.name) + " is in the fleet; its token ends at " +
           reactor::format_rfc3339(token_->expires) + " and is renewed before by the service.\n";
  return out;
}

json::object addition::document() const {
  json::object o = document_of(wanted_.name, wanted_.member.server);
  json::array missing;
  for (const right& r : missing_) missing.push_back(json::value(r.text()));
  if (!missing.empty()) o["missingRights"] = std::move(missing);
  if (token_) o["tokenExpires"] = reactor::format_rfc3339(token_->expires);
  return o;
}

}  // namespace cli
