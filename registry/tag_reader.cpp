#include "registry/tag_reader.hpp"

#include "formats/plain/text.hpp"
#include "registry/auth.hpp"
#include "registry/bounded_json.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace registry {

using formats::quote;

namespace {

/// Each keeps the tokens of one credential on one registry; they are got again when they are gone.
constexpr std::size_t most_clients = 1'000;

/// Of an image's configuration: it lists the history of its layers.
constexpr std::size_t config_bytes_limit = 1u << 20, config_values_limit = 50'000;

/// Adds {"config": {"Labels": {…}}}; a label that is no text counts as absent.
void add_labels(const boost::json::value& config, image_labels& to) {
  const auto member = [](const boost::json::value* of, std::string_view name) {
    const boost::json::object* o = of ? of->if_object() : nullptr;
    return o ? o->if_contains(name) : nullptr;
  };
  const boost::json::value* labels = member(member(&config, "config"), "Labels");
  if (!labels || !labels->is_object()) return;
  for (const auto& [name, value] : labels->get_object())
    if (value.is_string()) to[std::string(name)] = std::string(value.get_string());
}

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
  question q = [known = std::move(known)](std::shared_ptr<client> through, oci_reference at) {
    return digest_by(std::move(through), std::move(at), known);
  };
  auto answered = co_await ask_mirror_first(std::move(of), std::move(q), std::move(with));
  if (!answered) co_return answered.error();
  co_return std::move(answered->digest);
}

awaitable<answer<image_labels>> tag_reader::labels_of(image_ref of,
                                                      std::shared_ptr<const pull_secret> with) {
  question q = [this](std::shared_ptr<client> through, oci_reference at) {
    return read_labels(std::move(through), std::move(at));
  };
  auto answered = co_await ask_mirror_first(std::move(of), std::move(q), std::move(with));
  if (!answered) co_return answered.error();
  co_return std::move(answered->labels);
}

awaitable<answer<tag_reader::found>> tag_reader::digest_by(std::shared_ptr<client> through,
                                                           oci_reference of, std::string known) {
  auto answered = co_await through->current_digest(std::move(of), std::move(known));
  if (!answered) co_return answered.error();
  co_return found{std::move(*answered), {}};
}

awaitable<answer<tag_reader::found>> tag_reader::read_labels(std::shared_ptr<client> through,
                                                             oci_reference of) {
  found out;
  out.digest = of.digest;
  auto read = co_await through->manifest(of);
  if (!read) co_return read.error();
  out.labels = read->content.annotations;
  if (media_type::is_index(read->content.media_type)) {
    const auto& all = read->content.manifests;
    const auto image = std::ranges::find_if(all, [](const auto& d) { return !d.attests; });
    if (image == all.end()) co_return out;
    of.digest = image->digest;
    read = co_await through->manifest(of);
    if (!read) co_return read.error();
    for (auto& [name, value] : read->content.annotations) out.labels[name] = std::move(value);
  }
  if (!read->content.config) co_return out;
  descriptor of_config = *read->content.config;
  auto text = co_await through->blob(std::move(of), std::move(of_config), config_bytes_limit);
  if (!text) co_return text.error();
  const auto config = co_await read_bounded(loop_, std::move(*text), config_values_limit);
  if (!config)
    co_return failed(errc::malformed, "the image's configuration: " + config.error().text);
  add_labels(*config, out.labels);
  co_return out;
}

awaitable<answer<tag_reader::found>> tag_reader::ask_mirror_first(
    image_ref of, question q, std::shared_ptr<const pull_secret> with) {
  const std::string host = host_of(of);
  if (const auto mirror = options_.mirrors.find(host); mirror != options_.mirrors.end()) {
    auto answered = co_await ask(mirror->second, of, q, with);
    if (answered || answered.error().cancelled) co_return answered;
  }
  co_return co_await ask(host, std::move(of), std::move(q), std::move(with));
}

awaitable<answer<tag_reader::found>> tag_reader::ask(std::string host, image_ref of, question q,
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
  auto answered = co_await ask_by(transport::tls, at, q, login, credential, shown);
  const bool may_fall_back = !answered && answered.error().without_tls &&
                             std::ranges::find(options_.insecure_registries, at.registry) !=
                                 options_.insecure_registries.end();
  if (!may_fall_back) co_return answered;
  co_return co_await ask_by(transport::plain, std::move(at), std::move(q), std::move(login),
                            std::move(credential), shown);
}

awaitable<answer<tag_reader::found>> tag_reader::ask_by(transport how, oci_reference of, question q,
                                                        registry_login login,
                                                        std::string credential, std::string shown) {
  // Held here, since others may make room meanwhile.
  auto through = client_for(how, of.registry, std::move(login), credential);
  const std::string what = of.text();
  auto answered = co_await q(std::move(through), std::move(of));
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
