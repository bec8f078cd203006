#include "helm/tenants/home/region.hpp"

#include "formats/digest.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/metadata_address.hpp"

#include <utility>

namespace helm::tenants {
namespace {

using state = edge_facts::state;

/// What is not watched may still be there.
constexpr std::string_view on_region = "kryptondeployments";

bool is_metadata_server(const std::string& url) {
  const auto origin = reactor::http::parse_origin(url);
  return origin && reactor::is_metadata_host(origin->host);
}

/// Nothing of ours is watched there: who answers is there.
awaitable<k8s::result<void>> nothing_more(k8s::engagement&) {  // borrowed
  co_return k8s::result<void>();
}

}  // namespace

region::region(reactor::loop& l, k8s::client& home, k8s::object_key secret, options o)
    : loop_(l),
      home_(home),
      secret_key_(std::move(secret)),
      options_(std::move(o)),
      secret_(l, home,
              k8s::only(k8s::resources::secrets(), secret_key_, options_.limits, options_.log)),
      changed_(l),
      closing_(l),
      tasks_(l) {
  secret_.on_change([this](const k8s::secret*, const k8s::secret*) { changed_.wake_all(); });
  tasks_.start("region " + secret_key_.text(), follow());
}

region::~region() = default;

std::optional<edge_facts> region::way() const {
  edge_facts out;
  if (!known_) {
    if (secret_.is_synced() || loop_.now() - tried_since_ < patience) return std::nullopt;
    out.is = state::down;
    out.problem = "home does not say whether it is there";
    return out;
  }
  if (!invalid_.empty() || !connection_) {
    out.is = hash_.empty() ? state::secret_missing : state::invalid;
    out.problem = hash_.empty() ? "it is not there" : invalid_;
    return out;
  }
  if (connection_->is_connected()) return out;
  if (!connection_->was_engaged() && connection_->last_error().empty() &&
      loop_.now() - tried_since_ < patience)
    return std::nullopt;
  out.is = state::down;
  out.problem =
      connection_->last_error().empty() ? "the cluster does not answer" : connection_->last_error();
  return out;
}

awaitable<void> region::until_there() {
  for (;;) {
    const reactor::nanoseconds pause = options_.absence_pause();
    if (pause <= reactor::nanoseconds::zero()) co_return;
    k8s::list_options one;
    one.ns = secret_key_.ns;
    one.field_selector = k8s::field_is("metadata.name", secret_key_.name);
    one.limit = 1;
    one.metadata_only = true;
    auto found = co_await home_.list(k8s::resources::secrets(), std::move(one));
    const auto* items = found ? k8s::items_of(*found) : nullptr;
    if (items && !items->empty()) co_return;
    if (found && !known_) {
      known_ = true;  // and its hash says that it is not there
      options_.on_change();
    }
    co_await loop_.sleep_for(loop_.random().jitter(pause, 0.1));
  }
}

awaitable<void> region::follow() {
  tried_since_ = loop_.now();
  co_await until_there();
  known_ = false;
  tried_since_ = loop_.now();
  secret_.start();
  (void)co_await secret_.synced(loop_.now() + patience);
  options_.on_change();  // without an answer that is one, too
  (void)co_await secret_.synced();
  for (;;) {
    const k8s::secret* is = secret_.find(secret_key_);
    if (!known_ && is) grant_ = is->meta.annotations.get(names::region_for);
    const reactor::secret* bytes = is ? is->find(options_.key) : nullptr;
    reactor::secret raw = bytes ? *bytes : reactor::secret();
    std::string hash = !is           ? std::string()
                       : raw.empty() ? std::string("-")
                                     : formats::sha256_hex(raw.reveal());
    if (!known_ || hash != hash_) {
      co_await reconnect(std::move(raw), std::move(hash));
      continue;  // it may have changed meanwhile
    }
    std::string grant(is ? is->meta.annotations.get(names::region_for) : std::string_view());
    if (std::exchange(grant_, grant) != grant) options_.on_change();
    (void)co_await changed_.wait();
  }
}

awaitable<void> region::reconnect(reactor::secret raw, std::string hash) {
  known_ = false;
  tried_since_ = loop_.now();
  leave();
  invalid_.clear();
  hash_ = std::move(hash);
  if (hash_ == "-") {
    invalid_ = "key " + options_.key + " is missing or empty";
  } else if (!hash_.empty()) {
    k8s::kubeconfig_options reading;
    reading.source = "Secret " + secret_key_.text() + ", key " + options_.key;
    auto to = co_await k8s::load_kubeconfig_aside(loop_, std::move(raw), std::move(reading));
    if (!to) {
      invalid_ = to.error().message();
      options_.log.warning("the kubeconfig of a region is invalid",
                           {{"secret", secret_key_.text()}, {"error", invalid_}});
    } else if (is_metadata_server(to->server)) {
      // The author of a KryptonDeployment chooses the server, and we are the one who asks it.
      invalid_ = "clusters[].cluster.server is an address where clouds keep credentials";
    } else {
      k8s::cluster_options o;
      o.name = secret_key_.text();
      o.field_manager = options_.field_manager;
      o.hash = hash_;
      o.apis.push_back({std::string(on_region), nothing_more});
      o.on_engaged = [this](k8s::cluster&) { options_.on_change(); };
      o.on_state = [this](k8s::cluster&, k8s::cluster_state) { options_.on_change(); };
      o.on_recovered = [this](k8s::cluster&) {
        ++returns_;
        options_.on_change();
      };
      connection_ =
          std::make_shared<k8s::cluster>(loop_, std::move(*to), std::move(o), options_.log);
      connection_->start();
      if (options_.watched) {
        cluster_view::options o = *options_.watched;
        o.limits = options_.limits;
        o.log = options_.log;
        view_ = std::make_shared<cluster_view>(loop_, connection_->api(), std::move(o));
        view_->start();
      }
    }
  }
  known_ = true;
  options_.on_change();
}

void region::leave() {
  if (!connection_) return;
  connection_->forget_observers();
  closing_.start("close region " + secret_key_.text(),
                 close(std::exchange(connection_, nullptr), std::exchange(view_, nullptr)));
}

awaitable<void> region::close(std::shared_ptr<k8s::cluster> leaving,
                              std::shared_ptr<cluster_view> view) {
  if (options_.before_end) co_await options_.before_end(*leaving);
  if (view) co_await view->stop();
  co_await leaving->stop();
}

awaitable<void> region::stop() {
  co_await tasks_.cancel_and_join();
  leave();
  co_await closing_.join();
  co_await secret_.stop();
}

}  // namespace helm::tenants
