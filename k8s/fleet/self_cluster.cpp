#include "k8s/fleet/self_cluster.hpp"

#include "formats/base64.hpp"
#include "formats/json/member.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/wiping_json.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using formats::text_member;
using reactor::awaitable;

constexpr reactor::nanoseconds version_patience = 2s;

json::object* member_of(json::object& o, std::string_view key) {
  json::value* v = o.if_contains(key);
  return v ? v->if_object() : nullptr;
}

/// `field` of a cluster or user, when it names a file that can be read, becomes `data_field`.
void take_in(json::object& of, std::string_view field, std::string_view data_field,
             const std::string& folder, const file_reader& read) {
  std::string path = text_member(of, field);
  if (path.empty()) return;
  std::filesystem::path full(path);
  if (full.is_relative()) full = std::filesystem::path(folder) / full;
  std::optional<reactor::secret> bytes = read(full.string());
  if (!bytes) return;
  if (data_field == "token") {
    of[data_field] = json::string(trimmed(bytes->reveal()), of.storage());
  } else {
    of[data_field] = json::string(formats::encode_base64(bytes->reveal()), of.storage());
  }
  of.erase(field);
}

/// The body of each entry of a list: {"name": "a", "cluster": {…}}.
template <class F>
void each_body(json::object& root, std::string_view list, std::string_view member, F f) {
  json::value* all = root.if_contains(list);
  if (!all || !all->is_array()) return;
  for (json::value& one : all->get_array())
    if (json::object* named = one.if_object())
      if (json::object* body = member_of(*named, member)) f(text_member(*named, "name"), *body);
}

json::array only(const json::object& root, std::string_view list, const std::string& name) {
  json::array out(root.storage());
  const json::value* all = root.if_contains(list);
  if (!all || !all->is_array()) return out;
  for (const json::value& one : all->get_array())
    if (one.is_object() && text_member(one.get_object(), "name") == name) out.push_back(one);
  return out;
}

std::string base64_of(const material& m) {
  return formats::encode_base64(m.bytes.reveal());
}

json::array named(std::string_view member, json::object body) {
  json::object one(body.storage());
  one["name"] = "self";
  one[member] = std::move(body);
  json::array out(one.storage());
  out.push_back(std::move(one));
  return out;
}

/// The kubeconfig that the Secret holds; none where it holds nothing.
std::optional<reactor::secret> kubeconfig_in(const json::object& secret, std::string_view key) {
  const json::value* data = secret.if_contains("data");
  if (!data || !data->is_object()) return std::nullopt;
  auto bytes = formats::decode_base64(text_member(data->get_object(), key));
  if (!bytes || bytes->empty()) return std::nullopt;
  return reactor::secret(*std::move(bytes));
}

bool is_labelled(const json::object& secret, std::string_view label) {
  const json::value* meta = secret.if_contains("metadata");
  const json::value* labels =
      meta && meta->is_object() ? meta->get_object().if_contains("labels") : nullptr;
  return labels && labels->is_object() && text_member(labels->get_object(), label) == "true";
}

object_key key_in(const std::string& ns) {
  return {ns, std::string(self_cluster_options::name)};
}

std::optional<reactor::secret> bytes_of_file(const std::string& path) {
  auto bytes = read_small_file(path);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

/// None: it cannot be read. Blocks on files.
std::optional<reactor::result<portable_kubeconfig>> portable_file(const std::string& path,
                                                                  std::string context) {
  const std::optional<reactor::secret> bytes = bytes_of_file(path);
  if (!bytes) return std::nullopt;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return make_portable(bytes->reveal(), folder, std::move(context), bytes_of_file);
}

kubeconfig_options as_found() {
  kubeconfig_options o;
  o.source = "Secret self-cluster";
  return o;
}

}  // namespace

reactor::result<portable_kubeconfig> make_portable(std::string_view bytes,
                                                   const std::string& folder, std::string context,
                                                   const file_reader& read) {
  formats::yaml_limits limits;
  limits.nodes = 100'000;
  limits.depth = 16;
  limits.storage = wiping_storage();
  auto parsed = formats::parse_kubernetes_yaml(bytes, "kubeconfig", limits);
  if (!parsed) return parsed.error();
  const auto no = [](const char* why) {
    return reactor::make_fault(reactor::errc::malformed, "kubeconfig", why);
  };
  if (!parsed->is_object()) return no("the document is not a mapping");
  portable_kubeconfig out;
  out.whole = json::object(parsed->get_object(), limits.storage);
  if (!out.whole.contains("contexts") || !out.whole.contains("clusters"))
    return no("it has neither clusters nor contexts");
  each_body(out.whole, "clusters", "cluster", [&](const std::string&, json::object& body) {
    take_in(body, "certificate-authority", "certificate-authority-data", folder, read);
  });
  each_body(out.whole, "users", "user", [&](const std::string&, json::object& body) {
    take_in(body, "client-certificate", "client-certificate-data", folder, read);
    take_in(body, "client-key", "client-key-data", folder, read);
    take_in(body, "tokenFile", "token", folder, read);
  });
  if (context.empty()) context = text_member(out.whole, "current-context");
  std::string cluster, user;
  each_body(out.whole, "contexts", "context", [&](const std::string& name, json::object&) {
    if (text_member(out.whole, "current-context").empty() && (context.empty() || name < context))
      context = name;
  });
  bool found = false;
  each_body(out.whole, "contexts", "context", [&](const std::string& name, json::object& body) {
    if (name != context || found) return;
    found = true;
    cluster = text_member(body, "cluster");
    user = text_member(body, "user");
  });
  out.whole["current-context"] = context;
  if (!found) return out;
  out.reduced = json::object(limits.storage);
  out.reduced["apiVersion"] = "v1";
  out.reduced["kind"] = "Config";
  out.reduced["current-context"] = context;
  out.reduced["clusters"] = only(out.whole, "clusters", cluster);
  out.reduced["users"] = only(out.whole, "users", user);
  out.reduced["contexts"] = only(out.whole, "contexts", context);
  return out;
}

json::object kubeconfig_of_connection(const connection& to) {
  const json::storage_ptr memory = wiping_storage();
  json::object cluster(memory), user(memory), context(memory), out(memory);
  cluster["server"] = to.server;
  if (!to.ca.bytes.empty())
    cluster["certificate-authority-data"] = base64_of(to.ca);
  else if (to.server.starts_with("https://"))
    cluster["insecure-skip-tls-verify"] = true;
  if (!to.tls_server_name.empty()) cluster["tls-server-name"] = to.tls_server_name;
  if (!to.proxy_url.empty()) cluster["proxy-url"] = to.proxy_url.reveal();
  if (!to.token.bytes.empty() && to.token.file.empty()) user["token"] = to.token.bytes.reveal();
  if (!to.certificate.bytes.empty()) {
    user["client-certificate-data"] = base64_of(to.certificate);
    user["client-key-data"] = base64_of(to.key);
  }
  if (!to.username.empty()) {
    user["username"] = to.username;
    user["password"] = to.password.reveal();
  }
  context["cluster"] = "self";
  context["user"] = "self";
  out["apiVersion"] = "v1";
  out["kind"] = "Config";
  out["current-context"] = "self";
  out["clusters"] = named("cluster", std::move(cluster));
  out["users"] = named("user", std::move(user));
  out["contexts"] = named("context", std::move(context));
  return out;
}

bool stands_for_home(const connection& stored) {
  return stored.context == "self" && stored.token.empty() && stored.certificate.empty() &&
         stored.username.empty();
}

awaitable<result<void>> self_cluster::ensure() {
  auto there = co_await home_.get(resources::secrets(), key_in(options_.ns));
  if (!there && there.error().code != errc::not_found) co_return there.error();
  if (there) {
    const std::optional<reactor::secret> has = kubeconfig_in(*there, options_.key);
    auto read = has ? load_kubeconfig(has->reveal(), as_found()) : reactor::result<connection>();
    const bool holds_own_token =
        has && read && has_token_file() && read->context == "self" && !read->token.bytes.empty();
    if (has && read && !holds_own_token) {
      if (is_labelled(*there, options_.label)) co_return result<void>();
      json::object labels, metadata, patch;
      labels[options_.label] = "true";
      metadata["labels"] = std::move(labels);
      patch["metadata"] = std::move(metadata);
      auto put =
          co_await home_.merge_patch(resources::secrets(), key_in(options_.ns), std::move(patch));
      if (!put) co_return put.error();
      log_.info("the Secret self-cluster got its label back");
      co_return result<void>();
    }
  }
  std::optional<reactor::secret> made;
  // What a program gives is for this process alone; the Secret says that it is home, no more.
  if (!has_token_file() && !running_.login) made = co_await from_files();
  if (!made) made = reactor::secret(text_of_secret(kubeconfig_of_connection(running_)));
  const secret_is now = there ? secret_is::there : secret_is::absent;
  co_return co_await write(*std::move(made), now);
}

/// The first file that can be read and is a kubeconfig.
awaitable<std::optional<reactor::secret>> self_cluster::from_files() {
  std::optional<reactor::secret> out;
  const auto work = [](const std::string& path, const std::string& context) {
    return portable_file(path, context);
  };
  for (const std::string& path : options_.files) {
    const auto found = co_await loop_.offload(work, path, options_.context);
    if (!found) continue;
    const reactor::result<portable_kubeconfig>& portable = *found;
    if (!portable) {
      log_.warning("a kubeconfig cannot be put into the Secret self-cluster",
                   {{"file", path}, {"why", portable.error()}});
      continue;
    }
    if (!portable->reduced.empty()) {
      reactor::secret reduced(text_of_secret(portable->reduced));
      reactor::secret tried = reduced;
      const bool well = co_await leads_somewhere(std::move(tried));
      if (well) {
        out = std::move(reduced);
        co_return out;
      }
    }
    out = reactor::secret(text_of_secret(portable->whole));
    co_return out;
  }
  co_return out;
}

/// A client can be made of it, with a token or certificate, and its server answers.
awaitable<bool> self_cluster::leads_somewhere(reactor::secret kubeconfig) {
  auto to = load_kubeconfig(kubeconfig.reveal(), as_found());
  if (!to || (to->token.empty() && to->certificate.empty())) co_return false;
  client api(loop_, *std::move(to));
  discovery asked(api);
  auto version = co_await asked.read_version(version_patience);
  co_await api.stop();
  co_return version.has_value();
}

awaitable<result<void>> self_cluster::write(reactor::secret kubeconfig, secret_is now) {
  const json::storage_ptr memory = wiping_storage();
  json::object labels(memory), metadata(memory), data(memory), body(memory);
  labels[options_.label] = "true";
  metadata["name"] = self_cluster_options::name;
  metadata["namespace"] = options_.ns;
  metadata["labels"] = std::move(labels);
  data[options_.key] = formats::encode_base64(kubeconfig.reveal());
  body["metadata"] = std::move(metadata);
  body["data"] = std::move(data);
  if (now == secret_is::there) {
    auto put =
        co_await home_.merge_patch(resources::secrets(), key_in(options_.ns), std::move(body));
    if (!put) co_return put.error();
  } else {
    body["apiVersion"] = "v1";
    body["kind"] = "Secret";
    body["type"] = "Opaque";
    auto made = co_await home_.create(resources::secrets(), options_.ns, std::move(body));
    if (!made && made.error().code != errc::exists) co_return made.error();
  }
  log_.info("the Secret self-cluster was written", {{"namespace", options_.ns}});
  co_return result<void>();
}

}  // namespace k8s
