// One reading of one document: fields, their paths and lines, and what each may be, kept beside one
// another.
#include "k8s/client/kubeconfig.hpp"

#include "formats/base64.hpp"
#include "formats/plain/listed.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/certificates.hpp"
#include "k8s/client/wiping_json.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/proxy.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/write.hpp"
#include "reactor/system/files.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace k8s {
namespace {

namespace json = boost::json;

constexpr std::size_t file_limit_bytes = 4 * 1024 * 1024;
constexpr std::size_t pem_limit_bytes = 512 * 1024;    // the trust of a browser is 220 KiB
constexpr std::size_t header_limit_bytes = 16 * 1024;  // servers refuse heads of that size

/// Unwinds the reading inside this file; the public functions turn it into a result.
struct refusal {
  reactor::errc code;
  std::string what;
};

std::string in_quotes(std::string_view name) {
  return '"' + reactor::printable(name, 128) + '"';
}

/// A kubeconfig's bytes, kept until all of it is read: to say in which line something is wrong.
struct document {
  reactor::secret bytes;
  std::string name;  // of its file where there are several
};

/// Where in a document something stands. Its steps are words of ours and numbers, since the
/// document's own words may be secrets in the wrong place.
struct spot {
  std::shared_ptr<const document> in;
  std::vector<std::string> path;
  std::string where;  // 'cluster "a"'; empty: the document itself

  spot at(std::string_view field) const {
    spot inner = *this;
    inner.path.emplace_back(field);
    return inner;
  }
};

std::string text_of(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& step : path) {
    const bool index = step.find_first_not_of("0123456789") == std::string::npos;
    out += index ? "[" + step + "]" : (out.empty() ? "" : ".") + step;
  }
  return out;
}

[[noreturn]] void refuse(reactor::errc code, const spot& s, std::string what) {
  if (!s.where.empty()) what = s.where + ": " + what;
  if (s.in && !s.path.empty()) {
    what += " (" + text_of(s.path) + ", line " +
            std::to_string(formats::yaml_line_of(s.in->bytes.reveal(), s.path)) +
            (s.in->name.empty() ? "" : " of " + s.in->name) + ")";
  }
  throw refusal{code, std::move(what)};
}

[[noreturn]] void malformed(const spot& s, std::string what) {
  refuse(reactor::errc::malformed, s, std::move(what));
}

[[noreturn]] void malformed(std::string what) {
  refuse(reactor::errc::malformed, {}, std::move(what));
}

/// One named entry of clusters, users or contexts, and where its relative paths start.
struct entry {
  json::object body;
  spot place;  // of the body
  std::string folder;
};

struct config {
  std::map<std::string, entry> clusters, users, contexts;
  std::vector<std::string> context_order;
  std::string current;
  spot current_place;
};

/// A field that holds text; a view of the document's memory.
std::string_view text(const json::object& from, std::string_view field, const spot& place) {
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return {};
  if (!v->is_string()) malformed(place.at(field), std::string(field) + " is not text");
  return std::string_view(v->get_string());
}

bool flag(const json::object& from, std::string_view field, const spot& place) {
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return false;
  if (!v->is_bool()) malformed(place.at(field), std::string(field) + " is not true or false");
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

/// Comments, blank lines and marks of documents: what `kubectl config unset` and a shell's
/// redirection leave.
bool says_nothing(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = trimmed(bytes.substr(0, end));
    if (!line.empty() && line[0] != '#' && line != "---" && line != "..." && line != "null" &&
        line != "~")
      return false;
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return true;
}

/// One of several files may add nothing; a kubeconfig by itself must say something.
enum class standing : std::uint8_t { alone, among_others };

/// Adds what the document names and is not named yet: kubectl's merge.
void merge(config& into, std::shared_ptr<const document> from, const std::string& source,
           const std::string& folder, standing how = standing::alone) {
  if (how == standing::among_others && says_nothing(from->bytes.reveal())) return;
  formats::yaml_limits limits;
  limits.nodes = 100'000;
  limits.depth = 16;
  limits.storage = wiping_storage();
  auto parsed = formats::parse_kubernetes_yaml(from->bytes.reveal(), source, limits);
  if (!parsed) {
    throw refusal{parsed.error().code == make_error_code(reactor::errc::limit)
                      ? reactor::errc::limit
                      : reactor::errc::malformed,
                  parsed.error().detail};
  }
  const spot top{from, {}, {}};
  if (!parsed->is_object()) malformed("is not a kubeconfig: the document is not a mapping");
  const json::object& root = parsed->get_object();
  if (how == standing::alone && !root.contains("clusters") && !root.contains("contexts") &&
      !root.contains("users")) {
    malformed("is not a kubeconfig: it has neither clusters nor contexts nor users");
  }
  if (const std::string_view kind = text(root, "kind", top); !kind.empty() && kind != "Config") {
    malformed(top.at("kind"), "is not a kubeconfig: its kind is not Config");
  }
  if (into.current.empty()) {
    into.current = text(root, "current-context", top);
    into.current_place = top.at("current-context");
  }
  const auto section = [&](std::string_view list, std::string_view member,
                           std::map<std::string, entry>& to, std::vector<std::string>* order) {
    const json::value* all = root.if_contains(list);
    if (!all || all->is_null()) return;
    const spot listed = top.at(list);
    if (!all->is_array()) malformed(listed, std::string(list) + " is not a list");
    std::set<std::string> seen;
    std::size_t index = 0;
    for (const json::value& one : all->get_array()) {
      spot place = listed.at(std::to_string(index++));
      if (!one.is_object())
        malformed(place, std::string(list) + " holds something that is no mapping");
      const json::object& named = one.get_object();
      const std::string name(text(named, "name", place));
      place.where = std::string(member) + " " + in_quotes(name);
      if (!seen.insert(name).second) malformed(place, "is there twice");
      const json::value* body = named.if_contains(member);
      place = place.at(member);
      if (body && !body->is_null() && !body->is_object()) malformed(place, "is not a mapping");
      entry made{body && body->is_object() ? json::object(body->get_object(), limits.storage)
                                           : json::object(limits.storage),
                 std::move(place), folder};
      if (to.emplace(name, std::move(made)).second && order) order->push_back(name);
    }
  };
  section("clusters", "cluster", into.clusters, nullptr);
  section("users", "user", into.users, nullptr);
  section("contexts", "context", into.contexts, &into.context_order);
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  return formats::listed(quoted, 8);
}

const entry& chosen_context(const config& c, std::string& name) {
  const bool by_file = name.empty();
  if (by_file) name = c.current;
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
    refuse(reactor::errc::not_found, by_file ? c.current_place : spot{},
           "there is no context " + in_quotes(name) +
               (c.contexts.empty() ? std::string("; it has none")
                                   : "; it has " + listed(c.context_order)));
  }
  return found->second;
}

class credentials_reader {
public:
  credentials_reader(const kubeconfig_options& options) : options_(options) {}

  /// The pair `field`-data and `field`; only one of them may be there.
  material pem(const entry& from, const std::string& field) {
    const std::string_view data = text(from.body, field + "-data", from.place);
    const std::string_view path = text(from.body, field, from.place);
    if (!data.empty() && !path.empty()) {
      malformed(from.place.at(field), field + " and " + field + "-data are both there");
    }
    material got;
    if (!path.empty()) {
      got = file(from, field, path);
    } else if (!data.empty()) {
      auto bytes = formats::decode_base64(data);
      if (!bytes) malformed(from.place.at(field + "-data"), field + "-data is not base64");
      if (bytes->empty()) malformed(from.place.at(field + "-data"), field + "-data is empty");
      got.bytes = reactor::secret(*std::move(bytes));
    }
    if (got.bytes.reveal().size() > pem_limit_bytes) {
      refuse(reactor::errc::limit, from.place.at(path.empty() ? field + "-data" : field),
             field + (path.empty() ? "-data" : "") + " is larger than 512 KiB");
    }
    return got;
  }

  /// Not even the path is quoted: who confuses the fields puts a token where its file's name
  /// belongs.
  material file(const entry& from, const std::string& field, std::string_view path) {
    const spot place = from.place.at(field);
    if (options_.origin == kubeconfig_origin::discovered) {
      refuse(reactor::errc::refused, place,
             field +
                 " names a file, which a kubeconfig in a Secret must not; put the bytes in it "
                 "instead");
    }
    if (path.find('\0') != path.npos) malformed(place, field + " is not a path");
    std::filesystem::path full(path);
    if (full.is_relative()) full = std::filesystem::path(from.folder) / full;
    auto bytes = reactor::load_secret(full.string(), file_limit_bytes);
    if (!bytes) {
      const reactor::error_code why = bytes.error().code;
      const bool missing = why == make_error_code(reactor::errc::not_found);
      const bool large = why == make_error_code(reactor::errc::limit);
      const bool odd = why == make_error_code(reactor::errc::refused);
      refuse(reactor::errc::not_found, place,
             field + ": the file that it names " +
                 (missing ? "is not there"
                  : large ? "is larger than 4 MiB"
                  : odd   ? "is not a regular file"
                          : "cannot be read: " + why.message()));
    }
    return {*std::move(bytes), full.string()};
  }

private:
  const kubeconfig_options& options_;
};

/// What its own users are told by the vendors of each.
std::string_view instead_of_provider(std::string_view name) {
  if (name == "gcp")
    return "install gke-gcloud-auth-plugin and run `gcloud container clusters get-credentials` "
           "again, which writes exec";
  if (name == "azure") return "run `kubelogin convert-kubeconfig`, which writes exec";
  if (name == "oidc") return "use exec with kubelogin (`kubectl oidc-login`)";
  return "use exec, a token or a client certificate";
}

void refuse_unsupported(const entry& user) {
  if (present(user.body, "auth-provider")) {
    const spot place = user.place.at("auth-provider");
    const json::value& provider = user.body.at("auth-provider");
    const std::string_view name =
        provider.is_object() ? text(provider.get_object(), "name", place) : std::string_view();
    refuse(reactor::errc::refused, place,
           "auth-provider was removed from Kubernetes' clients; " +
               std::string(instead_of_provider(name)));
  }
  for (const std::string_view field : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (!present(user.body, field)) continue;
    refuse(reactor::errc::refused, user.place.at(field),
           std::string(field) + " is not supported; let the user itself have the rights");
  }
}

void check_header_text(std::string_view value, const spot& place, const std::string& what) {
  const bool bad = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
  if (bad) malformed(place, what + " holds control characters");
  if (value.size() > header_limit_bytes)
    refuse(reactor::errc::limit, place, what + " is longer than 16 KiB");
}

/// What a name in TLS or a namespace is made of; anything else is an attack.
bool is_name(std::string_view text, std::string_view also) {
  return text.size() <= 253 && std::all_of(text.begin(), text.end(), [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '-' ||
                  also.find(c) != also.npos;
         });
}

void read_cluster(connection& to, const entry& cluster, credentials_reader& files) {
  const spot& place = cluster.place;
  to.server = text(cluster.body, "server", place);
  if (to.server.empty()) malformed(place, "server is missing");
  while (to.server.ends_with('/')) to.server.pop_back();
  const auto origin = reactor::http::parse_origin(to.server);
  if (!origin) {
    to.server.clear();
    // The text itself is not repeated: it may hold a password.
    const std::string& why = origin.error().detail;
    malformed(place.at("server"),
              why.starts_with("the URL has ")
                  ? "server: " + why + "; an API server's address is https://host:port"
                  : "server is not a URL that begins with https:// or http:// and names a host");
  }
  to.insecure = flag(cluster.body, "insecure-skip-tls-verify", place);
  to.tls_server_name = text(cluster.body, "tls-server-name", place);
  if (!is_name(to.tls_server_name, "._:"))
    malformed(place.at("tls-server-name"), "tls-server-name is neither a name nor an address");
  to.ca = files.pem(cluster, "certificate-authority");
  if (to.insecure && !to.ca.empty()) {
    malformed(place.at("insecure-skip-tls-verify"),
              "insecure-skip-tls-verify and a certificate-authority exclude each other");
  }
  if (!to.ca.empty()) {
    if (const auto ok = check_ca(to.ca.bytes.reveal()); !ok) {
      const bool data = to.ca.file.empty();
      malformed(place.at(data ? "certificate-authority-data" : "certificate-authority"),
                std::string("certificate-authority") + (data ? "-data " : " ") + ok.error().detail);
    }
  }
  const std::string_view proxy = text(cluster.body, "proxy-url", place);
  if (!proxy.empty()) {
    constexpr std::string_view schemes[] = {"http://", "https://", "socks5://"};
    if (std::none_of(std::begin(schemes), std::end(schemes),
                     [&](std::string_view s) { return proxy.starts_with(s); })) {
      refuse(reactor::errc::refused, place.at("proxy-url"),
             "proxy-url is not an http://, https:// or socks5:// URL");
    }
    check_header_text(proxy, place.at("proxy-url"), "proxy-url");
    to.proxy_url = reactor::secret(std::string(proxy));
    if (!reactor::http::parse_proxy({to.proxy_url}))
      malformed(place.at("proxy-url"), "proxy-url is not a URL that names a host");
  }
}

void read_user(connection& to, const entry& user, credentials_reader& files) {
  const spot& place = user.place;
  refuse_unsupported(user);
  to.certificate = files.pem(user, "client-certificate");
  to.key = files.pem(user, "client-key");
  if (to.certificate.empty() != to.key.empty()) {
    malformed(place, to.key.empty() ? "client-certificate is there without client-key"
                                    : "client-key is there without client-certificate");
  }
  if (!to.certificate.empty()) {
    const auto ok = check_key_pair(to.certificate.bytes.reveal(), to.key.bytes.reveal());
    if (!ok)
      malformed(place.at(to.key.file.empty() ? "client-key-data" : "client-key"),
                ok.error().detail);
  }
  if (const std::string_view path = text(user.body, "tokenFile", place); !path.empty()) {
    to.token = files.file(user, "tokenFile", path);
    to.token.bytes = reactor::secret(std::string(trimmed(to.token.bytes.reveal())));
    if (to.token.bytes.empty())
      malformed(place.at("tokenFile"), "tokenFile: the file that it names is empty");
    check_header_text(to.token.bytes.reveal(), place.at("tokenFile"), "token");
  } else {
    to.token.bytes = reactor::secret(std::string(trimmed(text(user.body, "token", place))));
    check_header_text(to.token.bytes.reveal(), place.at("token"), "token");
  }
  to.username = text(user.body, "username", place);
  to.password = reactor::secret(std::string(text(user.body, "password", place)));
  if (!to.username.empty() && !to.token.empty()) {
    malformed(place.at("username"), "token and username/password exclude each other");
  }
  check_header_text(to.username, place.at("username"), "username");
  if (to.password.reveal().size() > header_limit_bytes)
    refuse(reactor::errc::limit, place.at("password"), "password is longer than 16 KiB");
}

/// An array of texts, or of mappings with texts; null is empty.
const json::array& list_of(const json::object& from, std::string_view field, const spot& place) {
  static const json::array none;
  const json::value* v = from.if_contains(field);
  if (!v || v->is_null()) return none;
  if (!v->is_array()) malformed(place.at(field), std::string(field) + " is not a list");
  return v->get_array();
}

/// What provideClusterInfo promises (client.authentication.k8s.io, Cluster).
reactor::secret cluster_info(const connection& to, const entry& cluster) {
  const json::storage_ptr memory = wiping_storage();
  json::object info(memory);
  info["server"] = to.server;
  if (!to.tls_server_name.empty()) info["tls-server-name"] = to.tls_server_name;
  if (to.insecure) info["insecure-skip-tls-verify"] = true;
  if (!to.ca.empty())
    info["certificate-authority-data"] = formats::encode_base64(to.ca.bytes.reveal());
  if (!to.proxy_url.empty()) info["proxy-url"] = to.proxy_url.reveal();
  if (flag(cluster.body, "disable-compression", cluster.place)) info["disable-compression"] = true;
  for (const json::value& one : list_of(cluster.body, "extensions", cluster.place)) {
    if (!one.is_object() ||
        text(one.get_object(), "name", cluster.place) != "client.authentication.k8s.io/exec")
      continue;
    if (const json::value* config = one.get_object().if_contains("extension"))
      info["config"] = *config;
  }
  return reactor::secret(text_of_secret(json::value(std::move(info))));
}

/// A discovered kubeconfig runs what the operator allowed, as it was allowed: nothing of the
/// kubeconfig reaches the program.
void take_allowed(login_program& p, const connection& to, const kubeconfig_options& options,
                  const spot& place) {
  const auto refused = [&](std::string what) {
    refuse(reactor::errc::refused, place, "exec: " + std::move(what));
  };
  const allowed_program* named = nullptr;
  bool other_arguments = false;
  for (const allowed_program& one : options.programs) {
    if (one.path != p.command) continue;
    if (one.arguments != p.arguments) {
      other_arguments = true;
      continue;
    }
    if (named == nullptr || one.server == to.server) named = &one;
  }
  if (named == nullptr && other_arguments)
    refused("--allow-exec names this program with other arguments");
  if (named == nullptr)
    refused(
        "no program is run for a kubeconfig in a Secret; give this user a token or a client "
        "certificate, or allow the program with --allow-exec PATH@sha256:DIGEST");
  if (!named->server.empty() && named->server != to.server)
    refused("--allow-exec names this program for another server");
  if (!p.environment.empty())
    refused("env is there, and a program that --allow-exec names has an empty environment");
  p.digest = named->digest;
  p.cluster = {};
  p.install_hint.clear();
}

/// `exec` of a user; null without it. Source: client-go's validateAuthInfo and its defaults.
std::shared_ptr<login_session> read_login(const connection& to, const entry& user,
                                          const entry& cluster, const kubeconfig_options& options) {
  if (!present(user.body, "exec")) return nullptr;
  const spot place = user.place.at("exec");
  const json::value& there = user.body.at("exec");
  if (!there.is_object()) malformed(place, "exec is not a mapping");
  const json::object& exec = there.get_object();
  login_program p;
  p.command = text(exec, "command", place);
  if (p.command.empty()) malformed(place, "exec: command is missing");
  for (const json::value& one : list_of(exec, "args", place)) {
    if (!one.is_string()) malformed(place.at("args"), "exec: args holds something that is no text");
    p.arguments.emplace_back(one.get_string());
  }
  for (const json::value& one : list_of(exec, "env", place)) {
    if (!one.is_object())
      malformed(place.at("env"), "exec: env holds something that is no mapping");
    const json::object& variable = one.get_object();
    std::string name(text(variable, "name", place.at("env")));
    if (name.empty() || name.find('=') != name.npos)
      malformed(place.at("env"), "exec: a variable of env has no usable name");
    p.environment.emplace_back(std::move(name), text(variable, "value", place.at("env")));
  }
  if (options.origin == kubeconfig_origin::discovered) take_allowed(p, to, options, place);
  p.api_version = text(exec, "apiVersion", place);
  if (p.api_version == "client.authentication.k8s.io/v1alpha1")
    refuse(reactor::errc::refused, place.at("apiVersion"),
           "exec: apiVersion v1alpha1 was removed in Kubernetes 1.24; let the vendor's tool write "
           "the kubeconfig again, or name v1beta1");
  if (!is_login_api(p.api_version))
    malformed(place.at("apiVersion"),
              "exec: apiVersion is neither client.authentication.k8s.io/v1 nor v1beta1");
  const std::string_view mode = text(exec, "interactiveMode", place);
  if (mode.empty() && p.api_version.ends_with("/v1"))
    malformed(place,
              "exec: interactiveMode is missing, which v1 requires (Never, IfAvailable, "
              "Always)");
  using input = login_program::input;
  if (mode.empty() || mode == "IfAvailable")
    p.interactive = input::if_available;
  else if (mode == "Always")
    p.interactive = input::always;
  else if (mode != "Never")
    malformed(place.at("interactiveMode"),
              "exec: interactiveMode is none of Never, IfAvailable and Always");
  if (!p.digest.empty()) return std::make_shared<login_session>(std::move(p));
  p.install_hint = text(exec, "installHint", place);
  if (flag(exec, "provideClusterInfo", place)) p.cluster = cluster_info(to, cluster);
  const bool in_path = p.command.find('/') == p.command.npos;
  if (!in_path && p.command.front() != '/')
    p.command = (std::filesystem::path(user.folder) / p.command).lexically_normal().string();
  return std::make_shared<login_session>(std::move(p));
}

connection resolve(const config& c, const kubeconfig_options& options) {
  connection to;
  to.source = options.source;
  std::string name = options.context;
  const entry& context = chosen_context(c, name);
  to.context = name;
  to.ns = text(context.body, "namespace", context.place);
  if (!is_name(to.ns, "."))
    malformed(context.place.at("namespace"), "namespace is not the name of one");
  const std::string cluster_name(text(context.body, "cluster", context.place));
  const auto cluster = c.clusters.find(cluster_name);
  if (cluster == c.clusters.end()) {
    refuse(reactor::errc::not_found, context.place.at("cluster"),
           "names a cluster that is not there");
  }
  credentials_reader files(options);
  read_cluster(to, cluster->second, files);
  const std::string user_name(text(context.body, "user", context.place));
  const auto user = c.users.find(user_name);
  if (user == c.users.end() && !user_name.empty()) {
    refuse(reactor::errc::not_found, context.place.at("user"), "names a user that is not there");
  }
  if (user != c.users.end()) {
    read_user(to, user->second, files);
    auto login = read_login(to, user->second, cluster->second, options);
    if (to.token.empty() && to.username.empty()) to.login = std::move(login);
  }
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

std::string_view trimmed(std::string_view file) noexcept {
  constexpr std::string_view white = " \t\r\n";
  const auto begin = file.find_first_not_of(white);
  if (begin == std::string_view::npos) return {};
  return file.substr(begin, file.find_last_not_of(white) - begin + 1);
}

reactor::result<reactor::secret> read_small_file(const std::string& path) {
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
  std::ifstream in;
  in.rdbuf()->pubsetbuf(nullptr, 0);  // would keep a copy
  in.open(path, std::ios::binary);
  if (!in) return failed(errno ? errno : EIO);
  reactor::wiped_string bytes, piece(std::size_t{16} * 1024, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    bytes.append(piece, 0, static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > limit) {
      return reactor::make_fault(reactor::errc::limit, "read " + path,
                                 "the file is larger than 4 MiB");
    }
  }
  if (in.bad()) return failed(errno ? errno : EIO);
  return reactor::secret(std::string(bytes.begin(), bytes.end()));
}

reactor::result<connection> load_kubeconfig(std::string_view bytes, kubeconfig_options options) {
  return guarded(options.source, [&] {
    config c;
    merge(c, std::make_shared<document>(document{reactor::secret(std::string(bytes)), {}}),
          options.source, options.folder);
    return resolve(c, options);
  });
}

reactor::awaitable<reactor::result<connection>> load_kubeconfig_aside(reactor::loop& l,
                                                                      reactor::secret bytes,
                                                                      kubeconfig_options options) {
  const auto job = [](const reactor::secret& bytes, const kubeconfig_options& options) {
    return load_kubeconfig(bytes.reveal(), options);
  };
  return l.offload(job, std::move(bytes), std::move(options));
}

reactor::result<connection> load_kubeconfig_file(std::string path, std::string context) {
  const std::string source = "kubeconfig " + path;
  auto bytes = read_small_file(path);
  if (!bytes) {
    reactor::fault f = bytes.error();
    const bool missing = f.code == make_error_code(reactor::errc::not_found);
    return reactor::make_fault(f.code, source, missing ? f.detail : f.code.message());
  }
  kubeconfig_options options;
  options.source = source;
  options.context = std::move(context);
  options.folder = std::filesystem::absolute(path).parent_path().string();
  options.origin = kubeconfig_origin::local;
  return load_kubeconfig(bytes->reveal(), options);
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
      auto from = std::make_shared<document>(document{*std::move(bytes), path});
      merge(c, std::move(from), source, std::filesystem::absolute(path).parent_path().string(),
            standing::among_others);
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
  env.dialogue.terminal = ::isatty(STDIN_FILENO) == 1;
  env.dialogue.show = reactor::show_on_standard_error;
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
  to.token = {reactor::secret(std::string(trimmed(bytes->reveal()))), token};
  const std::string ca = env.service_account + "/ca.crt";
  if (auto pem = read_small_file(ca); pem) {
    if (const auto ok = check_ca(pem->reveal()); !ok) {
      return reactor::make_fault(reactor::errc::malformed, source, ca + " " + ok.error().detail);
    }
    to.ca = {*std::move(pem), ca};
  }
  if (auto ns = read_small_file(env.service_account + "/namespace"); ns)
    to.ns = std::string(trimmed(ns->reveal()));
  return to;
}

namespace {

reactor::result<connection> find_default(std::string file, std::string context,
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

}  // namespace

reactor::result<connection> load_default(std::string file, std::string context,
                                         const environment& env) {
  auto to = find_default(std::move(file), std::move(context), env);
  if (to && to->login) to->login->talk(env.dialogue);
  return to;
}

reactor::result<std::vector<std::string>> kubeconfig_contexts(std::string_view bytes,
                                                              std::string_view source) {
  return guarded(std::string(source), [&] {
    config c;
    merge(c, std::make_shared<document>(document{reactor::secret(std::string(bytes)), {}}),
          std::string(source), "", standing::among_others);
    return c.context_order;
  });
}

}  // namespace k8s
