#include "k8s/fleet/home.hpp"

#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <optional>

namespace k8s {
namespace {

namespace json = boost::json;

std::optional<reactor::secret> data_of(const json::object& secret, const std::string& key) {
  const json::value* data = secret.if_contains("data");
  const json::value* value =
      data && data->is_object() ? data->get_object().if_contains(key) : nullptr;
  if (!value || !value->is_string() || value->get_string().empty()) return std::nullopt;
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
  reading.source =
      "Secret " + options_.secret_ns + "/" + options_.secret + ", key " + options_.secret_key;
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
  const std::optional<reactor::secret> bytes = data_of(*got, options_.secret_key);
  if (!bytes || bytes->empty()) {
    co_return reactor::make_fault(reactor::errc::not_found, reading.source,
                                  "the key is missing, empty or not base64");
  }
  co_return load_kubeconfig(bytes->reveal(), reading);
}

}  // namespace k8s
