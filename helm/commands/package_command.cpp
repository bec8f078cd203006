#include "formats/plain/path.hpp"
#include "formats/semver.hpp"
#include "helm/charts/chart.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/go.hpp"
#include "helm/sources/archive.hpp"
#include "helm/sources/dependencies/dependency_manager.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/signature.hpp"
#include "helm/values/dependencies.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"

#include <charconv>
#include <chrono>
#include <filesystem>

namespace helm::sources {
namespace {

namespace fs = std::filesystem;

struct package_options {
  std::string version, app_version, destination = ".";
  std::string key, keyring, passphrase_file;
  bool sign = false;
};

struct packed_file {
  std::string path;
  metadata meta;
};

outcome<packed_file> pack(const std::string& folder, const package_options& o,
                          std::int64_t modified) {
  std::error_code e;
  if (!fs::is_directory(folder, e))
    return problem{"validate: path is not a folder with a chart: " + folder};
  std::vector<std::string> ignored;
  auto c = load_chart(folder, ignored);
  if (!c) return c.error();
  auto& m = (*c)->meta;
  if (!o.version.empty()) m.version = o.version;
  if (auto v = parse_lenient_version(m.version); !v) return v.error();
  if (!o.app_version.empty()) m.app_version = o.app_version;
  if (auto there = check_dependencies(**c); !there) return there.error();
  auto bytes = pack_chart(**c, modified);
  if (!bytes) return problem{"failed to save: " + bytes.error().text};
  const fs::path to =
      o.destination == "." ? fs::current_path(e) : fs::path(o.destination).lexically_normal();
  fs::create_directories(to, e);
  packed_file out{(to / archive_name(m)).string(), m};
  if (auto done = reactor::store_file(out.path, *bytes); !done)
    return problem{"failed to save: " + done.error().message()};
  return out;
}

/// The time of the files in an archive, in seconds: that of $SOURCE_DATE_EPOCH where it says one,
/// so that the same chart gives the same bytes again; else now, as Helm's.
std::int64_t packed_at(const command_context& c) {
  const std::string fixed = c.env("SOURCE_DATE_EPOCH");
  std::int64_t seconds = 0;
  const char* const end = fixed.data() + fixed.size();
  const auto read = std::from_chars(fixed.data(), end, seconds);
  if (!fixed.empty() && read.ec == std::errc() && read.ptr == end && seconds >= 0) return seconds;
  return std::chrono::duration_cast<std::chrono::seconds>(c.loop.wall().time_since_epoch()).count();
}

outcome<bool> sign_file(const packed_file& p, const package_options& o,
                        const reactor::secret& passphrase) {
  auto bytes = reactor::load_file(p.path, chart_archive_bytes_limit);
  if (!bytes) return problem{bytes.error().message()};
  auto text = write_signed_text(p.meta, base_name(p.path), *bytes);
  if (!text) return text.error();
  auto signed_text = sign(*text, o.keyring, o.key, passphrase);
  if (!signed_text) return signed_text.error();
  if (auto done = reactor::store_file(p.path + ".prov", *signed_text); !done)
    return problem{done.error().message()};
  return true;
}

outcome<reactor::secret> read_passphrase(const command_context& c, const std::string& path) {
  std::string text;
  if (path == "-") {
    text = c.read_input();
  } else {
    auto file = reactor::load_file(path, 64 * 1024);
    if (!file) return problem{file.error().message()};
    text = std::move(*file);
  }
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return reactor::secret(std::move(text));
}

}  // namespace

awaitable<command_result> package_command(command_context c, words arguments) {
  report out;
  package_options o;
  chart_flags origin;
  bool update = false;
  o.keyring = c.where.keyring;
  source_flags f(origin);
  add_login_flags(f, origin);
  f.flag("sign", 0, o.sign);
  f.text("key", 0, o.key);
  f.text("keyring", 0, o.keyring);
  f.text("passphrase-file", 0, o.passphrase_file);
  f.text("version", 0, o.version);
  f.about("the version to write into the chart");
  f.text("app-version", 0, o.app_version);
  f.text("destination", 'd', o.destination);
  f.flag("dependency-update", 'u', update);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  if (rest->empty())
    co_return std::move(out).failed("need at least one argument, the path to the chart");
  if (o.sign && o.key.empty())
    co_return std::move(out).failed("--key is required for signing a package");
  if (o.sign && o.keyring.empty())
    co_return std::move(out).failed("--keyring is required for signing a package");
  c.where = settings_of(c.where, origin);
  reactor::secret passphrase;
  if (o.sign && !o.passphrase_file.empty()) {
    auto read = read_passphrase(c, o.passphrase_file);
    if (!read) co_return std::move(out).failed(read.error().text);
    passphrase = std::move(*read);
  }
  const std::int64_t modified = packed_at(c);
  for (const auto& argument : *rest) {
    std::error_code e;
    if (!fs::exists(argument, e))
      co_return std::move(out).failed("stat " + argument + ": no such file or directory");
    const std::string folder = fs::absolute(argument, e).lexically_normal().string();
    if (update) {
      chart_source source(c.loop, c.where, c.env);
      dependency_options options;
      options.chart_path = folder;
      options.origin = origin_of(origin);
      dependency_manager manager(source, std::move(options), [](const std::string&) {});
      auto done = co_await manager.update();
      co_await source.stop();
      if (!done) co_return std::move(out).failed(done.error().text);
    }
    auto packed = co_await c.loop.offload(&pack, folder, o, modified);
    if (!packed) co_return std::move(out).failed(packed.error().text);
    if (o.sign) {
      auto done = co_await c.loop.offload(&sign_file, *packed, o, passphrase);
      if (!done) co_return std::move(out).failed(done.error().text);
    }
    out.say("Successfully packaged chart and saved it to: " + packed->path);
  }
  co_return std::move(out).done();
}

}  // namespace helm::sources
