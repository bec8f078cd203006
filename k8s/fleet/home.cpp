#include "k8s/fleet/home.hpp"

#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/kubeconfig_secret.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <optional>

namespace k8s {
namespace {

namespace json = boost::json;

const json::object& data_of(const json::object& secret) {
  static const json::object none;
  const json::value* data = secret.if_contains("data");
  return data && data->is_object() ? data->get_object() : none;
}

/// The decoded bytes of a key; none where it is missing or not base64.
std::optional<reactor::secret> bytes_of(const json::object& data, const std::string& key) {
  const json::value* value = data.if_contains(key);
  if (!value || !value->is_string()) return std::nullopt;
  auto bytes = formats::decode_base64(value->get_string());
  if (!bytes) return std::nullopt;
  return reactor::secret(*std::move(bytes));
}

}  // namespace

reactor::awaitable<reactor::result<connection>> home_finder::find() {
  if (!options_.secret.empty()) {
    auto found = co_await from_secret();
    co_return found;
  }
  if (!options_.file.empty()) co_return load_kubeconfig_file(options_.file, options_.context);
  co_return load_default(options_.default_file, options_.context, env_);
}

reactor::awaitable<reactor::result<connection>> home_finder::from_secret() {
  kubeconfig_options reading;
  reading.source = kubeconfig_source(options_.secret_ns, options_.secret, options_.secret_key);
  reading.context = options_.context;
  reading.programs = options_.programs;
  auto first = load_default(options_.default_file, std::string(), env_);
  if (!first) co_return while_doing("read " + reading.source, first.error());
  client api(loop_, *std::move(first));
  object_key where{options_.secret_ns, options_.secret};
  auto got = co_await api.get(resources::secrets(), std::move(where));
  co_await api.stop();
  if (!got) {
    const reactor::errc code =
        got.error().code == errc::not_found ? reactor::errc::not_found : reactor::errc::refused;
    co_return reactor::make_fault(code, reading.source, got.error().message());
  }
  const json::object& data = data_of(*got);
  const std::optional<reactor::secret> bytes = bytes_of(data, options_.secret_key);
  if (!bytes && data.contains(options_.secret_key))
    co_return reactor::make_fault(reactor::errc::not_found, reading.source,
                                  "the key holds no base64");
  if (!bytes || bytes->empty()) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : data) keys.emplace_back(key);
    co_return no_kubeconfig(reading.source, options_.secret_key, keys);
  }
  co_return load_kubeconfig(bytes->reveal(), reading);
}

}  // namespace k8s
