#include "k8s/kubeconfig.hpp"

#include "k8s/base64.hpp"
#include "k8s/certificates.hpp"
#include "k8s/yaml.hpp"
#include "reactor/http/client.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace k8s {
namespace {

namespace json = boost::json;
using reactor::fault;

/// Unwinds the reading inside this file; the public functions turn it into a result.
struct refusal {
  reactor::errc code;
  std::string what;
};

[[noreturn]] void malformed(std::string what) {
  throw refusal{reactor::errc::malformed, std::move(what)};
}

std::string in_quotes(std::string_view name) {
  return '"' + std::string(name.substr(0, 128)) + (name.size() > 128 ? "…\"" : "\"");
}

/// One named entry of clusters, users or contexts, and where its relative paths start.
struct entry {
  json::object body;
  std::string where;  // 'cluster "a"'
  std::string folder;
};

struct config {
  std::map<std::string, entry> clusters, users, contexts;
  std::vector<std::string> context_order;
  std::string current;
};

std::string text(const json::object& from, std::string_view field, const std::string& where) {
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return {};
  if (!v->is_string()) malformed(where + ": " + std::string(field) + " is not text");
  return std::string(v->get_string());
}

bool flag(const json::object& from, std::string_view field, const std::string& where) {
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return false;
  if (!v->is_bool()) malformed(where + ": " + std::string(field) + " is not true or false");
  return v->get_bool();
}

bool present(const json::object& from, std::string_view field) {
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return false;
  if (v->is_string()) return !v->get_string().empty();
  if (v->is_object()) return !v->get_object().empty();
  if (v->is_array()) return !v->get_array().empty();
  return true;
}

/// Adds what `bytes` names and is not named yet: kubectl's merge.
void merge(config& into, std::string_view bytes, const std::string& source,
           const std::string& folder) {
  yaml_limits limits;
  limits.nodes = 100'000;
  limits.depth = 16;
  auto parsed = parse_yaml(bytes, source, limits);
  if (!parsed) {
    throw refusal{parsed.error().code == make_error_code(reactor::errc::limit)
                      ? reactor::errc::limit
                      : reactor::errc::malformed,
                  parsed.error().detail};
  }
  if (!parsed->is_object()) malformed("is not a kubeconfig: the document is not a mapping");
  const json::object& root = parsed->get_object();
  if (!root.contains("clusters") && !root.contains("contexts") && !root.contains("users")) {
    malformed("is not a kubeconfig: it has neither clusters nor contexts nor users");
  }
  if (const std::string kind = text(root, "kind", "the document");
      !kind.empty() && kind != "Config") {
    malformed("is not a kubeconfig: its kind is " + in_quotes(kind));
  }
  if (into.current.empty()) into.current = text(root, "current-context", "the document");
  const auto section = [&](std::string_view list, std::string_view member,
                           std::map<std::string, entry>& to, std::vector<std::string>* order) {
    const json::value* all = root.if_contains(list);
    if (!all || all->is_null()) return;
    if (!all->is_array()) malformed(std::string(list) + " is not a list");
    std::set<std::string> seen;
    for (const json::value& one : all->get_array()) {
      if (!one.is_object()) malformed(std::string(list) + " holds something that is no mapping");
      const json::object& named = one.get_object();
      const std::string name = text(named, "name", std::string(list));
      const std::string where = std::string(member) + " " + in_quotes(name);
      if (!seen.insert(name).second) malformed(where + " is there twice");
      const json::value* body = named.if_contains(member);
      if (body && !body->is_null() && !body->is_object()) malformed(where + " is not a mapping");
      entry made{body && body->is_object() ? body->get_object() : json::object(), where, folder};
      if (to.emplace(name, std::move(made)).second && order) order->push_back(name);
    }
  };
  section("clusters", "cluster", into.clusters, nullptr);
  section("users", "user", into.users, nullptr);
  section("contexts", "context", into.contexts, &into.context_order);
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
    out += (i ? ", " : "") + in_quotes(names[i]);
  }
  if (names.size() > 8) out += " and " + std::to_string(names.size() - 8) + " more";
  return out;
}

const entry& chosen_context(const config& c, std::string& name) {
  if (name.empty()) name = c.current;
  if (name.empty()) {
    if (c.contexts.empty()) malformed("has no context");
    if (c.contexts.size() > 1) {
      malformed("current-context is empty and there are several contexts: " +
                listed(c.context_order));
    }
    name = c.contexts.begin()->first;
  }
  const auto found = c.contexts.find(name);
  if (found == c.contexts.end()) {
    throw refusal{reactor::errc::not_found,
                  "there is no context " + in_quotes(name) +
                      (c.contexts.empty() ? std::string("; it has none")
                                          : "; it has " + listed(c.context_order))};
  }
  return found->second;
}

class credentials_reader {
public:
  credentials_reader(const kubeconfig_options& options) : options_(options) {}

  /// The pair `field`-data and `field`; only one of them may be there.
  material pem(const entry& from, const std::string& field) {
    const std::string data = text(from.body, field + "-data", from.where);
    const std::string path = text(from.body, field, from.where);
    if (!data.empty() && !path.empty()) {
      malformed(from.where + ": " + field + " and " + field + "-data are both there");
    }
    if (!path.empty()) return file(from, field, path);
    if (data.empty()) return {};
    auto bytes = decode_base64(data);
    if (!bytes) malformed(from.where + ": " + field + "-data is not base64");
    if (bytes->empty()) malformed(from.where + ": " + field + "-data is empty");
    return {reactor::secret(*std::move(bytes)), {}};
  }

  material file(const entry& from, const std::string& field, const std::string& path) {
    if (options_.origin == kubeconfig_origin::discovered) {
      throw refusal{reactor::errc::refused, from.where + ": " + field +
                                                " names a file, which a kubeconfig in a Secret "
                                                "must not; put the bytes in it instead"};
    }
    std::filesystem::path full(path);
    if (full.is_relative()) full = std::filesystem::path(from.folder) / full;
    auto bytes = read_small_file(full.string());
    if (!bytes) {
      throw refusal{reactor::errc::not_found,
                    from.where + ": " + field + ": " + bytes.error().message()};
    }
    return {reactor::secret(*std::move(bytes)), full.string()};
  }

private:
  const kubeconfig_options& options_;
};

void refuse_unsupported(const entry& user) {
  const auto refuse = [&](std::string_view field, std::string_view instead) {
    throw refusal{reactor::errc::refused, user.where + ": " + std::string(field) +
                                              " is not supported; " + std::string(instead)};
  };
  constexpr std::string_view use_token = "give this user a token or a client certificate";
  if (present(user.body, "exec")) refuse("exec", use_token);
  if (present(user.body, "auth-provider")) refuse("auth-provider", use_token);
  for (const std::string_view field : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (present(user.body, field)) refuse(field, "let the user itself have the rights");
  }
}

void check_header_text(std::string_view value, const std::string& what) {
  const bool bad = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
  if (bad) malformed(what + " holds control characters");
}

std::string trimmed(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(s.substr(begin, s.find_last_not_of(" \t\r\n") - begin + 1));
}

void read_cluster(connection& to, const entry& cluster, credentials_reader& files) {
  to.server = text(cluster.body, "server", cluster.where);
  if (to.server.empty()) malformed(cluster.where + ": server is missing");
  while (to.server.ends_with('/')) to.server.pop_back();
  const auto origin = reactor::http::parse_origin(to.server);
  if (!origin) {
    malformed(cluster.where +
              ": server is not a URL that begins with https:// or http:// and names a host");
  }
  to.insecure = flag(cluster.body, "insecure-skip-tls-verify", cluster.where);
  to.tls_server_name = text(cluster.body, "tls-server-name", cluster.where);
  to.ca = files.pem(cluster, "certificate-authority");
  if (to.insecure && !to.ca.empty()) {
    malformed(cluster.where +
              ": insecure-skip-tls-verify and a certificate-authority exclude each other");
  }
  if (!to.ca.empty()) {
    if (const auto ok = check_ca(to.ca.bytes.reveal()); !ok) {
      malformed(cluster.where + ": certificate-authority" + (to.ca.file.empty() ? "-data " : " ") +
                ok.error().detail);
    }
  }
  const std::string proxy = text(cluster.body, "proxy-url", cluster.where);
  if (!proxy.empty()) {
    const auto at = proxy.find("://");
    const std::string scheme = at == std::string::npos ? "" : proxy.substr(0, at);
    if (scheme != "http" && scheme != "https") {
      throw refusal{reactor::errc::refused,
                    cluster.where + ": proxy-url is not an http:// or https:// URL"};
    }
    check_header_text(proxy, cluster.where + ": proxy-url");
    to.proxy_url = reactor::secret(proxy);
  }
}

void read_user(connection& to, const entry& user, credentials_reader& files) {
  refuse_unsupported(user);
  to.certificate = files.pem(user, "client-certificate");
  to.key = files.pem(user, "client-key");
  if (to.certificate.empty() != to.key.empty()) {
    malformed(user.where + (to.key.empty() ? ": client-certificate is there without client-key"
                                           : ": client-key is there without client-certificate"));
  }
  if (!to.certificate.empty()) {
    const auto ok = check_key_pair(to.certificate.bytes.reveal(), to.key.bytes.reveal());
    if (!ok) malformed(user.where + ": " + ok.error().detail);
  }
  if (const std::string path = text(user.body, "tokenFile", user.where); !path.empty()) {
    to.token = files.file(user, "tokenFile", path);
    to.token.bytes = reactor::secret(trimmed(to.token.bytes.reveal()));
    if (to.token.bytes.empty())
      malformed(user.where + ": tokenFile " + to.token.file + " is empty");
  } else {
    to.token.bytes = reactor::secret(trimmed(text(user.body, "token", user.where)));
  }
  check_header_text(to.token.bytes.reveal(), user.where + ": token");
  to.username = text(user.body, "username", user.where);
  to.password = reactor::secret(text(user.body, "password", user.where));
  if (!to.username.empty() && !to.token.empty()) {
    malformed(user.where + ": token and username/password exclude each other");
  }
  check_header_text(to.username, user.where + ": username");
}

connection resolve(const config& c, const kubeconfig_options& options) {
  connection to;
  to.source = options.source;
  std::string name = options.context;
  const entry& context = chosen_context(c, name);
  to.context = name;
  to.ns = text(context.body, "namespace", context.where);
  const std::string cluster_name = text(context.body, "cluster", context.where);
  const auto cluster = c.clusters.find(cluster_name);
  if (cluster == c.clusters.end()) {
    throw refusal{reactor::errc::not_found, context.where + " names cluster " +
                                                in_quotes(cluster_name) + ", which is not there"};
  }
  credentials_reader files(options);
  read_cluster(to, cluster->second, files);
  const std::string user_name = text(context.body, "user", context.where);
  const auto user = c.users.find(user_name);
  if (user == c.users.end() && !user_name.empty()) {
    throw refusal{reactor::errc::not_found,
                  context.where + " names user " + in_quotes(user_name) + ", which is not there"};
  }
  if (user != c.users.end()) read_user(to, user->second, files);
  return to;
}

/// A discovered kubeconfig is refused for anything in its chosen context only: kubectl ignores the
/// rest, too.
template <class F>
auto guarded(const std::string& source, F f) -> reactor::result<decltype(f())> {
  try {
    return f();
  } catch (const refusal& r) {
    return reactor::make_fault(r.code, source, r.what);
  }
}

}  // namespace

reactor::result<std::string> read_small_file(const std::string& path) {
  constexpr std::size_t limit = 4 * 1024 * 1024;
  const auto failed = [&](int code) {
    const reactor::error_code ec(code, boost::system::system_category());
    if (code == ENOENT) {
      return reactor::make_fault(reactor::errc::not_found, "read " + path, "the file is not there");
    }
    return reactor::make_fault(ec, "read " + path);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return failed(EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed(errno ? errno : EIO);
  std::string bytes;
  char piece[16 * 1024];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    bytes.append(piece, static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > limit) {
      return reactor::make_fault(reactor::errc::limit, "read " + path,
                                 "the file is larger than 4 MiB");
    }
  }
  if (in.bad()) return failed(errno ? errno : EIO);
  return bytes;
}

reactor::result<connection> load_kubeconfig(std::string_view bytes, kubeconfig_options options) {
  return guarded(options.source, [&] {
    config c;
    merge(c, bytes, options.source, options.folder);
    return resolve(c, options);
  });
}

reactor::result<connection> load_kubeconfig_file(std::string path, std::string context) {
  const std::string source = "kubeconfig " + path;
  auto bytes = read_small_file(path);
  if (!bytes) {
    fault f = bytes.error();
    const bool missing = f.code == make_error_code(reactor::errc::not_found);
    return reactor::make_fault(f.code, source, missing ? f.detail : f.code.message());
  }
  kubeconfig_options options;
  options.source = source;
  options.context = std::move(context);
  options.folder = std::filesystem::absolute(path).parent_path().string();
  options.origin = kubeconfig_origin::local;
  return load_kubeconfig(*bytes, options);
}

reactor::result<connection> load_kubeconfig_files(std::vector<std::string> paths,
                                                  std::string context) {
  std::erase(paths, "");
  if (paths.size() == 1) return load_kubeconfig_file(paths.front(), std::move(context));
  config c;
  std::string names;
  bool any = false;
  for (const std::string& path : paths) {
    const std::string source = "kubeconfig " + path;
    names += (names.empty() ? "" : ":") + path;
    auto bytes = read_small_file(path);
    if (!bytes) {
      if (bytes.error().code == make_error_code(reactor::errc::not_found)) continue;
      return reactor::make_fault(bytes.error().code, source, bytes.error().code.message());
    }
    any = true;
    const auto merged = guarded(source, [&] {
      merge(c, *bytes, source, std::filesystem::absolute(path).parent_path().string());
      return true;
    });
    if (!merged) return merged.error();
  }
  if (!any) {
    return reactor::make_fault(reactor::errc::not_found, "kubeconfig " + names,
                               "none of the files is there");
  }
  kubeconfig_options options;
  options.source = "kubeconfig " + names;
  options.context = std::move(context);
  options.origin = kubeconfig_origin::local;
  return guarded(options.source, [&] { return resolve(c, options); });
}

environment environment::of_process() {
  environment env;
  env.variable = [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value ? value : "");
  };
  return env;
}

reactor::result<connection> load_in_cluster(const environment& env) {
  const std::string source = "in-cluster connection";
  const std::string host = env.variable("KUBERNETES_SERVICE_HOST");
  const std::string port = env.variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return reactor::make_fault(reactor::errc::not_found, source,
                               "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  connection to;
  to.source = source;
  to.server =
      "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  if (!reactor::http::parse_origin(to.server)) {
    return reactor::make_fault(
        reactor::errc::malformed, source,
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no server");
  }
  const std::string token = env.service_account + "/token";
  auto bytes = read_small_file(token);
  if (!bytes) return while_doing(source, bytes.error());
  to.token = {reactor::secret(trimmed(*bytes)), token};
  const std::string ca = env.service_account + "/ca.crt";
  if (auto pem = read_small_file(ca); pem) {
    if (const auto ok = check_ca(*pem); !ok) {
      return reactor::make_fault(reactor::errc::malformed, source, ca + " " + ok.error().detail);
    }
    to.ca = {reactor::secret(*std::move(pem)), ca};
  }
  if (auto ns = read_small_file(env.service_account + "/namespace"); ns) to.ns = trimmed(*ns);
  return to;
}

reactor::result<connection> load_default(std::string file, std::string context,
                                         const environment& env) {
  if (!file.empty()) return load_kubeconfig_file(std::move(file), std::move(context));
  if (const std::string list = env.variable("KUBECONFIG"); !list.empty()) {
    std::vector<std::string> paths;
    for (std::size_t from = 0; from <= list.size();) {
      const std::size_t to = std::min(list.find(':', from), list.size());
      if (to > from) paths.push_back(list.substr(from, to - from));
      from = to + 1;
    }
    return load_kubeconfig_files(std::move(paths), std::move(context));
  }
  auto pod = load_in_cluster(env);
  if (pod || pod.error().code != make_error_code(reactor::errc::not_found)) return pod;
  const std::string home = env.variable("HOME");
  const std::string path = home + "/.kube/config";
  std::error_code ignored;
  if (!home.empty() && std::filesystem::exists(path, ignored)) {
    return load_kubeconfig_file(path, std::move(context));
  }
  return reactor::make_fault(reactor::errc::not_found, "find a cluster",
                             "no --kubeconfig, no $KUBECONFIG, not inside a Pod, and " +
                                 (home.empty() ? std::string("no $HOME") : path + " is not there") +
                                 "; give --kubeconfig FILE or set KUBECONFIG");
}

reactor::result<std::vector<std::string>> kubeconfig_contexts(std::string_view bytes,
                                                              std::string_view source) {
  return guarded(std::string(source), [&] {
    config c;
    merge(c, bytes, std::string(source), "");
    return c.context_order;
  });
}

}  // namespace k8s
