#include "registry/tag_reader.hpp"

#include "formats/plain/text.hpp"
#include "registry/auth.hpp"

#include <algorithm>
#include <utility>

namespace registry {

using formats::quote;

namespace {

/// Each keeps the tokens of one credential on one registry; they are got again when they are gone.
constexpr std::size_t most_clients = 1'000;

std::string host_of(const image_ref& r) {
  return r.name.substr(0, r.name.find('/'));
}

/// Which login a registry that refuses was shown, for a person who looks for the reason.
std::string login_shown(const pull_secret* with, const oci_reference& to) {
  const std::string none = "it was asked without a login: ";
  if (!with) return none + "no pull secret is named";
  if (!with->problem.empty()) return none + with->problem;
  const auto found = find_login_for(with->config.reveal(), to.registry, to.repository, "");
  if (found && *found) return "it was shown the login of the pull secret";
  const auto places = places_with_login(with->config.reveal());
  std::string out = none + "the pull secret has none for " + to.registry + "/" + to.repository;
  constexpr std::size_t most_named = 5;
  for (std::size_t i = 0; i < std::min(places.size(), most_named); ++i)
    out += (i == 0 ? ", only for " : ", ") + quote(places[i]);
  return out + (places.size() > most_named ? " and others" : "");
}

}  // namespace

tag_reader::tag_reader(reactor::loop& l, web& w, tag_reader_options options)
    : loop_(l), web_(w), options_(std::move(options)) {}

awaitable<answer<std::string>> tag_reader::digest_of(image_ref of, std::string known,
                                                     std::shared_ptr<const pull_secret> with) {
  const std::string host = host_of(of);
  if (const auto mirror = options_.mirrors.find(host); mirror != options_.mirrors.end()) {
    auto answered = co_await ask(mirror->second, of, known, with);
    if (answered || answered.error().cancelled) co_return answered;
  }
  co_return co_await ask(host, std::move(of), std::move(known), std::move(with));
}

awaitable<answer<std::string>> tag_reader::ask(std::string host, image_ref of, std::string known,
                                               std::shared_ptr<const pull_secret> with) {
  oci_reference at;
  at.registry = std::move(host);
  at.repository = of.name.substr(of.name.find('/') + 1);
  at.tag = of.effective_tag();
  at.digest = of.digest;
  registry_login login;
  std::string credential;
  const std::string shown = login_shown(with.get(), at);
  if (with) {
    auto found = find_login_for(with->config.reveal(), at.registry, at.repository, "pull secret");
    if (!found) co_return failed(errc::refused, found.error().text);
    if (*found) {
      login = std::move(**found);
      credential = with->id + "/" + at.repository;
    }
  }
  auto answered = co_await ask_by(transport::tls, at, known, login, credential, shown);
  const bool may_fall_back = !answered && answered.error().without_tls &&
                             std::ranges::find(options_.insecure_registries, at.registry) !=
                                 options_.insecure_registries.end();
  if (!may_fall_back) co_return answered;
  co_return co_await ask_by(transport::plain, std::move(at), std::move(known), std::move(login),
                            std::move(credential), shown);
}

awaitable<answer<std::string>> tag_reader::ask_by(transport how, oci_reference of,
                                                  std::string known, registry_login login,
                                                  std::string credential, std::string shown) {
  // Held here, since others may make room meanwhile.
  const auto through = client_for(how, of.registry, std::move(login), credential);
  const std::string what = of.text();
  auto answered = co_await through->current_digest(std::move(of), std::move(known));
  if (answered) co_return answered;
  fault why = answered.error();
  if (why.code == errc::unauthorized || why.code == errc::forbidden) why.text += "; " + shown;
  co_return std::move(why).behind("fetching the manifest of " + what + ": ");
}

awaitable<void> tag_reader::rest() {
  clients_.clear();
  co_await web_.stop();
}

std::shared_ptr<client> tag_reader::client_for(transport how, const std::string& host,
                                               registry_login login,
                                               const std::string& credential) {
  const std::string key =
      (how == transport::plain ? "http://" : "https://") + host + "/" + credential;
  if (const auto known = clients_.find(key); known != clients_.end()) return known->second;
  if (clients_.size() >= most_clients) clients_.clear();
  client_options o;
  o.plain_http = how == transport::plain;
  o.tls.ca_file = options_.ca_file;
  o.given_for = host;
  o.login = std::move(login);
  o.retries.attempts = 1;  // the caller asks again, and heeds Retry-After
  o.token_realms = client_options::realms::trusted;
  o.other_realms = options_.token_realms;
  return clients_.emplace(key, std::make_shared<client>(loop_, web_, std::move(o))).first->second;
}

}  // namespace registry
