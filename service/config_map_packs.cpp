#include "service/config_map_packs.hpp"

#include "k8s/client/client.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>

namespace cli {
namespace {

using namespace std::chrono_literals;
using policies::pack_source;
using reactor::errc;
using reactor::make_fault;

constexpr std::string_view scheme = "configmap:", main_file = "policy.lua";
/// A home that does not answer within that is not waited for.
constexpr reactor::nanoseconds first_answer = 10s, look_every = 200ms;
constexpr std::size_t most_packs = 64;

/// Ours to hear of: the same request again would be refused again.
bool is_final(const k8s::fault& f) {
  return f.code == k8s::errc::forbidden || f.code == k8s::errc::unauthorized;
}

/// "mine" of "mine.policy.lua"; empty when the key names no pack's main file.
std::string_view pack_named_by(std::string_view key) {
  if (!key.ends_with(main_file) || key.size() <= main_file.size() + 1) return {};
  key.remove_suffix(main_file.size());
  if (!key.ends_with('.')) return {};
  key.remove_suffix(1);
  return key;
}

}  // namespace

config_map_view config_map_view::parse(k8s::wire_value object) {
  config_map_view out;
  out.meta = k8s::parse_meta(object);
  object["data"].members([&](std::string_view key, k8s::wire_value text) {
    if (!out.data.emplace(key, text.text()).second)
      object.refuse("config map " + out.meta.name.str() + " has \"" + std::string(key) +
                    "\" twice");
  });
  object["binaryData"].members(
      [&](std::string_view key, k8s::wire_value) { out.binary.emplace_back(key); });
  return out;
}

std::size_t config_map_view::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes();
  for (const auto& [key, text] : data) total += key.capacity() + text.capacity();
  for (const std::string& key : binary) total += key.capacity();
  return total;
}

reactor::result<std::vector<pack_source>> packs_in(const config_map_view& m,
                                                   const std::string& name) {
  const std::string doing = "read policies configmap:" + name;
  if (!m.binary.empty())
    return make_fault(errc::malformed, doing,
                      reactor::printable(m.binary.front(), 80) + " is binary; packs are texts");
  std::vector<pack_source> out;
  if (m.data.contains(std::string(main_file))) {
    out.push_back({name, {m.data.begin(), m.data.end()}, {}});
  } else {
    std::vector<std::string> names;
    for (const auto& [key, text] : m.data)
      if (const std::string_view pack = pack_named_by(key); !pack.empty()) names.emplace_back(pack);
    // Of "a" and "a.b" the longer one has "a.b.policy.lua".
    std::ranges::sort(names, std::greater<>(), &std::string::size);
    std::map<std::string, pack_source> found;
    for (const auto& [key, text] : m.data) {
      const auto of = std::ranges::find_if(names, [&](const std::string& pack) {
        return key.size() > pack.size() + 1 && key.starts_with(pack) && key[pack.size()] == '.';
      });
      if (of == names.end() && !names.empty())
        return make_fault(errc::malformed, doing,
                          reactor::printable(key, 80) +
                              " is of no pack; keys are PACK.FILE, and each pack has a key "
                              "PACK.policy.lua");
      if (of == names.end()) continue;
      pack_source& pack = found[*of];
      pack.folder = *of;
      pack.files.emplace(key.substr(of->size() + 1), text);
    }
    for (auto& [folder, pack] : found) out.push_back(std::move(pack));
  }
  if (out.empty())
    return make_fault(errc::not_found, doing,
                      "no pack in it; a pack has a key policy.lua, several have PACK.policy.lua");
  if (out.size() > most_packs)
    return make_fault(errc::limit, doing, "more than " + std::to_string(most_packs) + " packs");
  for (pack_source& pack : out)
    if (auto fits = policies::within_limits(pack.files); !fits)
      pack.unreadable = reactor::while_doing(doing, fits.error());
  return out;
}

std::optional<config_map_name> config_map_named(std::string_view text, const std::string& ns) {
  if (!text.starts_with(scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return config_map_name{ns, std::string(text)};
  return config_map_name{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

config_map_packs::config_map_packs(reactor::loop& l, config_map_name which, reactor::logger log)
    : loop_(l), which_(std::move(which)), log_(std::move(log)), changed_(l) {}

config_map_packs::~config_map_packs() = default;

std::string config_map_packs::doing() const {
  return "read policies configmap:" + which_.ns + "/" + which_.name;
}

void config_map_packs::follow(k8s::client& api) {
  auto o = k8s::only(k8s::resources::config_maps(), {which_.ns, which_.name}, {}, log_);
  seen_ = std::make_unique<k8s::informer<config_map_view>>(loop_, api, std::move(o));
  seen_->on_change([this](const config_map_view*, const config_map_view*) { changed_.set(); });
  seen_->start();
}

const config_map_view* config_map_packs::seen() const {
  return seen_ ? seen_->find({which_.ns, which_.name}) : nullptr;
}

reactor::awaitable<void> config_map_packs::stop() {
  if (seen_) co_await seen_->stop();
}

reactor::awaitable<reactor::result<std::vector<pack_source>>> config_map_packs::read() {
  const reactor::steady_time give_up = loop_.now() + first_answer;
  while (!seen_->is_synced()) {
    const auto& why = seen_->last_error();
    if (why && (is_final(*why) || loop_.now() >= give_up))
      co_return make_fault(is_final(*why) ? errc::refused : errc::closed, doing(), why->message());
    if (!why && loop_.now() >= give_up)
      co_return make_fault(errc::closed, doing(), "the home cluster has not answered");
    (void)co_await seen_->synced(loop_.now() + look_every);
  }
  changed_.reset();
  const config_map_view* now = seen_->find({which_.ns, which_.name});
  if (!now) co_return make_fault(errc::not_found, doing(), "there is no such ConfigMap");
  auto packs = packs_in(*now, which_.name);
  co_return packs;
}

reactor::awaitable<void> config_map_packs::changed() {
  (void)co_await changed_.wait();
}

}  // namespace cli
