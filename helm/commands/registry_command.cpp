#include "formats/go/time.hpp"
#include "formats/plain/path.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/go.hpp"
#include "helm/sources/chart_registry.hpp"
#include "helm/sources/file_lock.hpp"
#include "helm/sources/provenance.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <sys/stat.h>

#include <ctime>
#include <filesystem>

namespace helm::sources {

using ::registry::credentials_bytes_limit;
using ::registry::parse_oci_reference;
using ::registry::parse_url;
using ::registry::with_login;
using ::registry::without_login;

namespace {

namespace fs = std::filesystem;

/// The host of what a person typed, who may have given a whole reference.
std::string host_of(std::string text) {
  for (const char* scheme : {"oci://", "http://", "https://"})
    if (text.starts_with(scheme)) {
      text.erase(0, std::string_view(scheme).size());
      break;
    }
  return text.substr(0, text.find('/'));
}

outcome<std::string> read_config(const std::string& path) {
  auto text = reactor::load_file(path, credentials_bytes_limit);
  if (text) return std::move(*text);
  if (text.error().code == reactor::errc::not_found) return std::string();
  return problem{text.error().message()};
}

outcome<bool> store_config(const std::string& path, const std::string& text) {
  std::error_code e;
  fs::create_directories(fs::path(path).parent_path(), e);
  if (auto done = reactor::store_file(path, text, 0600); !done)
    return problem{done.error().message()};
  return true;
}

struct login_answers {
  std::string username, password;
};

/// Asks for what the flags left open.
outcome<login_answers> ask(const command_context& c, login_answers given, bool from_input) {
  if (from_input) {
    given.password = c.read_input();
    for (const char end : {'\n', '\r'})
      if (given.password.ends_with(end)) given.password.pop_back();
    return given;
  }
  if (!given.password.empty()) return given;
  if (given.username.empty()) given.username = trim_space(c.ask_name("Username: "));
  const bool token = given.username.empty();
  auto answer = c.ask_secret(token ? "Token: " : "Password: ");
  if (!answer) return answer.error();
  if (answer->empty()) return problem{token ? "token required" : "password required"};
  given.password = answer->reveal();
  return given;
}

awaitable<command_result> login(command_context c, words arguments) {
  report out;
  chart_flags origin;
  login_answers given;
  bool from_input = false;
  source_flags f(origin);
  f.text("username", 'u', given.username);
  f.text("password", 'p', given.password);
  f.flag("password-stdin", 0, from_input);
  f.flag("insecure", 0, origin.skip_tls_verify);
  f.text("cert-file", 0, origin.certificate_file);
  f.text("key-file", 0, origin.key_file);
  f.text("ca-file", 0, origin.ca_file);
  f.flag("plain-http", 0, origin.plain_http);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  if (auto wrong = count_problem(*rest, 1, 0, "registry login", "[host]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  if (!given.password.empty() && !from_input)
    out.warn("WARNING: Using --password via the CLI is insecure. Use --password-stdin.");
  auto answers = ask(c, std::move(given), from_input);
  if (!answers) co_return std::move(out).failed(answers.error().text);
  const std::string host = host_of(rest->front());
  c.where = settings_of(c.where, origin);
  registry::client_options options = registry_options_of(c.where, origin_of(origin), host);
  options.login.username = answers->username;
  // Without a name it is a token.
  (answers->username.empty() ? options.login.identity_token : options.login.password) =
      reactor::secret(answers->password);
  const registry::registry_login accepted = options.login;
  web network(c.loop, c.env);
  registry::client r(c.loop, network, std::move(options));
  auto there = co_await r.ping(host);
  co_await network.stop();
  if (!there)
    co_return std::move(out).failed("authenticating to " + quote(host) + ": " + there.error().text);
  // Two logins at once would each write the file without the other's.
  auto locked = co_await file_lock::take(c.loop, c.where.registry_config);
  if (!locked) co_return std::move(out).failed(locked.error().text);
  auto config = read_config(c.where.registry_config);
  if (!config) co_return std::move(out).failed(config.error().text);
  auto text = with_login(*config, host, accepted);
  if (!text) co_return std::move(out).failed(text.error().text);
  if (auto done = store_config(c.where.registry_config, *text); !done)
    co_return std::move(out).failed(done.error().text);
  out.warn("Login Succeeded");
  co_return std::move(out).done();
}

awaitable<command_result> logout(command_context c, words arguments) {
  report out;
  chart_flags places;
  source_flags f(places);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  if (auto wrong = count_problem(*rest, 1, 0, "registry logout", "[host]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  const std::string host = host_of(rest->front());
  auto locked = co_await file_lock::take(c.loop, c.where.registry_config);
  if (!locked) co_return std::move(out).failed(locked.error().text);
  auto config = read_config(c.where.registry_config);
  if (!config) co_return std::move(out).failed(config.error().text);
  auto text = without_login(*config, host);
  if (!text) co_return std::move(out).failed(text.error().text);
  if (*text)
    if (auto done = store_config(c.where.registry_config, **text); !done)
      co_return std::move(out).failed(done.error().text);
  out.warn("Removing login credentials for " + host);
  co_return std::move(out).done();
}

struct pull_options {
  std::string destination = ".", untar_folder = ".";
  bool untar = false, provenance = false;
};

/// Unpacks into <folder>/<chart's name>, which must not be there yet.
outcome<bool> unpack(const std::string& archive, const fs::path& folder) {
  auto files = read_archive(archive);
  if (!files) return files.error();
  metadata m;
  for (const auto& f : *files)
    if (f.name == "Chart.yaml")
      if (auto read = read_metadata(f.data, m); !read)
        return problem{"cannot load Chart.yaml: " + read.error().text};
  if (m.name.empty()) return problem{"chart name not specified"};
  if (m.name == "." || m.name == "..")
    return problem{"chart name " + quote(m.name) + " is not allowed"};
  if (base_name(m.name) != m.name)
    return problem{"chart name " + quote(m.name) + " must not contain path separators"};
  const fs::path to = folder / m.name;
  std::error_code e;
  if (fs::exists(fs::symlink_status(to, e)))
    return problem{"failed to untar: a file or directory with the name " +
                   to.lexically_normal().string() + " already exists"};
  for (const auto& f : *files) {
    const fs::path at = to / f.name;
    fs::create_directories(at.parent_path(), e);
    if (e) return problem{"failed to untar (mkdir): " + e.message()};
    if (auto done = reactor::store_file(at.string(), f.data); !done)
      return problem{done.error().message()};
  }
  return true;
}

outcome<bool> keep(const downloaded_chart& chart, const pull_options& o) {
  if (o.untar) {
    const fs::path folder(o.untar_folder);
    return unpack(chart.archive, folder.is_absolute() ? folder : fs::path(o.destination) / folder);
  }
  const std::string to = (fs::path(o.destination) / chart.file_name).string();
  if (auto done = reactor::store_file(to, chart.archive); !done)
    return problem{done.error().message()};
  if (!chart.provenance.empty())
    if (auto done = reactor::store_file(to + ".prov", chart.provenance); !done)
      return problem{done.error().message()};
  return true;
}

/// The time of the archive's last change, as Helm writes it into a manifest.
std::string modified_time(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return {};
  std::tm local{};
  ::localtime_r(&s.st_mtime, &local);
  go_time t = time_at(s.st_mtime, 0, "");
  t.fixed_offset = static_cast<std::int32_t>(local.tm_gmtoff);
  return format_time(t, "2006-01-02T15:04:05Z07:00");
}

struct packed {
  metadata meta;
  std::string archive, provenance, created;
};

outcome<packed> load_packed(const std::string& path) {
  std::error_code e;
  if (!fs::exists(path, e)) return problem{path + ": no such file"};
  if (fs::is_directory(path, e))
    return problem{"cannot push directory, must provide chart archive (.tgz)"};
  std::vector<std::string> ignored;
  auto c = load_chart(path, ignored);
  if (!c) return c.error();
  packed out;
  out.meta = (*c)->meta;
  out.created = modified_time(path);
  auto archive = reactor::load_file(path, chart_archive_bytes_limit);
  if (!archive) return problem{archive.error().message()};
  out.archive = std::move(*archive);
  if (auto prov = reactor::load_file(path + ".prov", provenance_bytes_limit))
    out.provenance = std::move(*prov);
  else if (prov.error().code != reactor::errc::not_found)
    return problem{prov.error().message()};
  return out;
}

}  // namespace

awaitable<command_result> registry_command(command_context c, words arguments) {
  const std::string what = arguments.empty() ? "" : arguments.front();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (what == "login") co_return co_await login(std::move(c), std::move(arguments));
  if (what == "logout") co_return co_await logout(std::move(c), std::move(arguments));
  co_return report().failed("unknown command " + quote(what) + " for \"helm registry\"");
}

awaitable<command_result> pull_command(command_context c, words arguments) {
  report out;
  pull_options o;
  chart_flags flags;
  command_flags f;
  ignore_cluster_flags(f);
  add_chart_flags(f, flags);
  f.flag("untar", 0, o.untar);
  f.flag("prov", 0, o.provenance);
  f.text("untardir", 0, o.untar_folder);
  f.text("destination", 'd', o.destination);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  if (auto wrong = count_problem(*rest, 1, 0, "pull", "[chart URL | repo/chartname] [...]");
      !wrong.empty())
    co_return std::move(out).failed(wrong);
  const chart_origin origin = origin_of(flags);
  c.where = settings_of(c.where, flags);
  const auto use = origin.verify  ? provenance_use::always
                   : o.provenance ? provenance_use::fetch
                                  : provenance_use::none;
  chart_source source(c.loop, c.where, c.env);
  problem failure;
  std::size_t done = 0;
  for (const auto& reference : *rest) {
    chart_origin how = origin;
    auto chart = co_await source.download(reference, std::move(how), use);
    if (!chart) {
      failure = chart.error();
      break;
    }
    for (const auto& line : chart->notes) out.warn(line);
    for (const auto& line : chart->warnings) out.say(line);
    for (const auto& line : chart->verified) out.say(line);
    auto kept = co_await c.loop.offload(&keep, std::move(*chart), o);
    if (!kept) {
      failure = kept.error();
      break;
    }
    if (c.at_chart) c.at_chart(++done, rest->size());
  }
  co_await source.stop();
  if (!failure.text.empty()) co_return std::move(out).failed(failure.text);
  co_return std::move(out).done();
}

awaitable<command_result> push_command(command_context c, words arguments) {
  report out;
  chart_flags origin;
  source_flags f(origin);
  add_login_flags(f, origin);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  if (auto wrong = count_problem(*rest, 2, 0, "push", "[chart] [remote]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  c.where = settings_of(c.where, origin);
  const std::string path = (*rest)[0], remote = (*rest)[1];
  const auto u = parse_url(remote);
  if (!u) co_return std::move(out).failed("invalid chart URL format: " + remote);
  if (u->scheme.empty())
    co_return std::move(out).failed("scheme prefix missing from remote (e.g. \"oci://\")");
  if (u->scheme != "oci")
    co_return std::move(out).failed("scheme " + quote(u->scheme) + " not supported");
  auto p = co_await c.loop.offload(&load_packed, path);
  if (!p) co_return std::move(out).failed(p.error().text);
  auto to = parse_oci_reference(clean_path(remote.substr(6) + "/" + p->meta.name) + ":" +
                                p->meta.version);
  if (!to) co_return std::move(out).failed(to.error().text);
  // "strict mode": a name that is not the chart's own cannot come out of the lines above.
  web network(c.loop, c.env);
  chart_registry r(c.loop, network, registry_options_of(c.where, origin_of(origin), to->registry));
  auto pushed = co_await r.push(*to, std::move(p->meta), std::move(p->archive),
                                std::move(p->provenance), std::move(p->created));
  co_await network.stop();
  if (!pushed) co_return std::move(out).failed(pushed.error().text);
  for (const auto& line : pushed->notes) out.warn(line);
  co_return std::move(out).done();
}

}  // namespace helm::sources
