// The tokens of members that `cluster add` made: when they are renewed, and what is said when they
// cannot be.
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/client/wiping_json.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/fleet/metric_table.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;

// The wall clock may be set, and sleeping computers wake up late.
constexpr reactor::nanoseconds look_again = 1h;
/// While the member does not answer nothing is asked of it.
constexpr reactor::nanoseconds answer_patience = 1min;

}  // namespace

void fleet::note_member(const std::string& name, entry& e, const secret& of) {
  std::optional<member_token> m = read_member_token(of.meta.annotations);
  // A person put another kubeconfig there: its token is not ours.
  if (m && m->kubeconfig_hash != e.hash) m.reset();
  const bool same = m == e.member;
  e.member = std::move(m);
  if (!same) {
    e.token_problem.clear();
    e.renewal_backoff.reset();
    e.next_renewal = reactor::never;
    if (e.member) {
      const reactor::nanoseconds left = renewal_due(*e.member, name) - loop_.wall();
      e.next_renewal = loop_.now() + std::max(left, reactor::nanoseconds::zero());
    }
  }
  if (e.member && options_.tokens == token_care::others && is_overdue(*e.member, loop_.wall()))
    e.token_problem =
        "its token ends at " + reactor::format_rfc3339(e.member->expires) +
        " and it was not renewed: does the service run, and may it patch Secrets in " +
        options_.ns + "?";
  show_token(e);
  tokens_changed_.wake_all();
}

void fleet::show_token(const entry& e) {
  if (!e.running) return;
  e.running->note_token(
      e.member ? std::optional<reactor::wall_time>(e.member->expires) : std::nullopt,
      e.token_problem);
}

awaitable<void> fleet::keep_tokens() {
  for (;;) {
    reactor::steady_time next = loop_.now() + look_again;
    for (auto& [name, e] : entries_) {
      if (!e.member || e.next_renewal == reactor::never) continue;
      // By the wall's clock: it may have been set since.
      const reactor::nanoseconds left = renewal_due(*e.member, name) - loop_.wall();
      if (e.renewal_backoff.attempts() == 0 && left <= reactor::nanoseconds::zero())
        e.next_renewal = std::min(e.next_renewal, loop_.now());
      if (e.next_renewal <= loop_.now()) renew(name, e);
      next = std::min(next, e.next_renewal);
    }
    (void)co_await tokens_changed_.wait(next);
  }
}

void fleet::renew(const std::string& name, entry& e) {
  e.next_renewal = loop_.now() + answer_patience;
  if (!e.running || !e.running->is_connected()) {
    const bool ended = e.member->expires <= loop_.wall();
    const std::string said =
        ended ? "its token ended at " + reactor::format_rfc3339(e.member->expires) +
                    "; `windlass cluster add` makes a new one"
              : "its token ends at " + reactor::format_rfc3339(e.member->expires) +
                    " and is renewed when it answers";
    if (std::exchange(e.token_problem, said) != said) show_token(e);
    return;
  }
  e.next_renewal = reactor::never;  // until it is known what became of it
  log_.debug("token is renewed", {{"cluster", name}, {"account", e.member->account.text()}});
  e.running->renew_token(e.member->account, e.member->life,
                         [this, name, hash = e.hash](result<issued_token> got) {
                           renewed(name, hash, std::move(got));
                         });
}

fleet::entry* fleet::member_with(const std::string& name, const std::string& hash) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.hash != hash || !found->second.member)
    return nullptr;
  return &found->second;
}

void fleet::renewed(const std::string& name, const std::string& hash, result<issued_token> got) {
  if (!member_with(name, hash)) return;
  if (!got) {
    if (!got.error().cancelled) not_renewed(name, hash, got.error().message());
    return;
  }
  tasks_.start("write token of " + name, write_token(name, hash, *std::move(got)));
}

awaitable<void> fleet::write_token(std::string name, std::string hash, issued_token token) {
  const secret* held = secrets_->find(object_key{options_.ns, name});
  const reactor::secret* before = held ? held->find(options_.key) : nullptr;
  const entry* e = member_with(name, hash);
  if (!before || !e) co_return;
  const std::optional<reactor::secret> kubeconfig = with_token(*before, token.text);
  if (!kubeconfig) {
    not_renewed(name, hash, "its kubeconfig is none that `windlass cluster add` writes");
    co_return;
  }
  member_token now = *e->member;
  now.issued = token.issued;
  now.expires = token.expires;
  now.kubeconfig_hash = formats::sha256_hex(kubeconfig->reveal());
  const json::storage_ptr wiped = wiping_storage();
  json::object metadata, data(wiped), patch(wiped);
  // What another client wrote meanwhile is newer.
  metadata["resourceVersion"] = held->meta.resource_version.text();
  metadata["annotations"] = annotations_of(now);
  std::string coded = formats::encode_base64(kubeconfig->reveal());
  data[options_.key] = coded;
  reactor::wipe(coded);
  patch["metadata"] = std::move(metadata);
  patch["data"] = std::move(data);
  object_key where{options_.ns, name};
  auto done =
      co_await home_api_->merge_patch(resources::secrets(), std::move(where), std::move(patch));
  if (!done) {
    if (!done.error().cancelled)
      not_renewed(name, hash, "it cannot be written at home: " + done.error().message());
    co_return;
  }
  // What the Secret holds now comes back as every change of it does.
  log_.info("token renewed", {{"cluster", name}, {"expires", now.expires}});
  if (options_.metrics)
    options_.metrics
        ->get_counter(fleet_metrics::token_renewals, {{"cluster", name}, {"result", "success"}})
        .add();
}

void fleet::not_renewed(const std::string& name, const std::string& hash, std::string why) {
  entry* e = member_with(name, hash);
  if (!e) return;
  e->next_renewal = loop_.now() + e->renewal_backoff.next(loop_.random());
  e->token_problem = "its token ends at " + reactor::format_rfc3339(e->member->expires) +
                     " and could not be renewed: " + why;
  show_token(*e);
  log_.warning("token not renewed",
               {{"cluster", name}, {"expires", e->member->expires}, {"error", why}});
  tell(e->secret, fleet_event::token_not_renewed, e->token_problem);
  if (options_.metrics)
    options_.metrics
        ->get_counter(fleet_metrics::token_renewals, {{"cluster", name}, {"result", "failure"}})
        .add();
  tokens_changed_.wake_all();
}

}  // namespace k8s
