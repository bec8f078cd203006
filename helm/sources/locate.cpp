#include "helm/sources/locate.hpp"

#include "formats/digest.hpp"
#include "formats/plain/path.hpp"
#include "helm/charts/chart.hpp"
#include "helm/go.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/repository.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <filesystem>

namespace helm::sources {

using ::registry::is_oci;
using ::registry::parse_oci_reference;
using ::registry::parse_url;
using ::registry::resolve_reference;
using ::registry::same_url;
using ::registry::without_user;

namespace {

namespace fs = std::filesystem;

/// A name that stays in its folder.
outcome<std::string> safe_file_name(std::string name) {
  if (name.empty() || name == "." || name == ".." || name == "/" ||
      name.find_first_of("/\\") != name.npos || name.find('\0') != name.npos)
    return problem{"a chart cannot be stored under the name " + quote(name)};
  return name;
}

}  // namespace

chart_source::chart_source(reactor::loop& l, settings where, environment env)
    : loop_(l), where_(std::move(where)), web_(l, std::move(env)) {}

chart_origin without_credentials(chart_origin how) {
  how.username.clear();
  how.password = {};
  const std::string ca_file = how.tls.ca_file;
  how.tls = {};
  how.tls.ca_file = ca_file;
  return how;
}

registry::client_options registry_options_of(const settings& where, const chart_origin& how,
                                             std::string given_for) {
  registry::client_options out;
  out.given_for = std::move(given_for);
  out.other_realms = where.token_realms;
  out.config_files = {where.registry_config, where.docker_config};
  out.helpers = where.helpers;
  out.plain_http = how.plain_http;
  out.tls = how.tls;
  if (!how.password.empty()) {
    out.login.username = how.username;
    out.login.password = how.password;
  }
  return out;
}

outcome<std::string> archive_name_of(const ::registry::oci_reference& of) {
  return safe_file_name(
      base_name(of.repository) +
      (of.tag.empty() ? "@sha256-" + of.digest.substr(7) : "-" + replace_all(of.tag, "_", "+")) +
      ".tgz");
}

outcome<std::string> archive_name_of(const std::string& url) {
  const auto u = parse_url(url);
  return safe_file_name(base_name(u ? u->path : url));
}

outcome<signed_message> check_signer(const std::string& file_name, const std::string& digest,
                                     std::string_view provenance, std::string_view keys) {
  const auto block = find_signed_block(provenance);
  if (!block) return problem{"failed to decode signature: " + block.error().text};
  auto by = check_signature(*block, keys);
  if (!by) return by.error();
  const auto sums = read_signed_text(by->text);
  if (!sums) return sums.error();
  if (auto sum = check_sum(*sums, file_name, digest); !sum) return sum.error();
  return by;
}

outcome<std::vector<std::string>> verify_chart(const std::string& file_name,
                                               std::string_view archive,
                                               std::string_view provenance,
                                               const std::string& keyring) {
  const auto keys = load_keyring(keyring);
  if (!keys) return keys.error();
  const std::string sum = formats::digest_of(archive);
  const auto by = check_signer(file_name, sum, provenance, *keys);
  if (!by) return by.error();
  std::vector<std::string> out;
  for (const auto& name : by->identities) out.push_back("Signed by: " + name);
  out.push_back("Using Key With Fingerprint: " + by->fingerprint);
  out.push_back("Chart Hash Verified: " + sum);
  return out;
}

awaitable<outcome<chart_source::found_chart>> chart_source::find_in_repository(std::string repo_url,
                                                                               std::string name,
                                                                               chart_origin how) {
  repository_entry from;
  from.url = repo_url;
  from.username = how.username;
  from.password = how.password;
  from.certificate_file = how.tls.certificate_file;
  from.key_file = how.tls.key_file;
  from.ca_file = how.tls.ca_file;
  from.skip_tls_verify = how.tls.skip_verify;
  from.pass_credentials_all = how.pass_credentials;
  repository_entry asking = from;
  auto index = co_await download_index(loop_, web_, std::move(asking));
  const std::string shown = without_user(repo_url);
  if (!index)
    co_return problem{
        "looks like " + quote(shown) +
        " is not a valid chart repository or cannot be reached: " + index.error().text};
  std::string what = "chart " + quote(name);
  if (!how.version.empty()) what += " version " + quote(how.version);
  const auto found = index->content.index.find(name, how.version);
  if (!found) co_return problem{what + " not found in " + shown + " repository"};
  if ((*found)->urls.empty()) co_return problem{what + " has no downloadable URLs"};
  auto at = resolve_reference(repo_url, (*found)->urls.front());
  if (!at) co_return problem{"failed to make chart URL absolute: " + at.error().text};
  found_chart out{*at, (*found)->digest, std::move(from)};
  co_return out;
}

/// A whole URL: the repository that lists it lends its certificates and its login.
awaitable<outcome<chart_source::found_chart>> chart_source::resolve_url(std::string target,
                                                                        chart_origin how) {
  found_chart out;
  out.url = target;
  out.from.url = target;
  auto file = co_await load_repositories(loop_, where_.repository_config);
  if (!file) co_return file.error();
  for (const auto& entry : file->entries) {
    auto index = co_await cached_index(loop_, where_, entry.name);
    if (!index)
      co_return problem{"no cached repo found. (try 'helm repo update'): " + index.error().text};
    for (const auto& [name, versions] : index->index.entries)
      for (const auto& v : versions)
        for (const auto& listed : v.urls)
          if (same_url(listed, target)) {
            out.from = entry;
            out.digest = v.digest;
            co_return out;
          }
  }
  out.from.username = how.username;
  out.from.password = how.password;
  co_return out;
}

awaitable<outcome<chart_source::found_chart>> chart_source::resolve_name(std::string reference,
                                                                         chart_origin how) {
  auto file = co_await load_repositories(loop_, where_.repository_config);
  if (!file) co_return file.error();
  const auto slash = reference.find('/');
  if (slash == reference.npos)
    co_return problem{"non-absolute URLs should be in form of repo_name/path_to_chart, got: " +
                      reference};
  const std::string repository = reference.substr(0, slash), name = reference.substr(slash + 1);
  const auto* entry = file->find(repository);
  if (!entry) co_return problem{"repo " + repository + " not found"};
  if (entry->url.empty()) co_return problem{"no URL found for repository " + repository};
  auto index = co_await cached_index(loop_, where_, repository);
  if (!index)
    co_return problem{"no cached repo found. (try 'helm repo update'): " + index.error().text};
  const auto found = index->index.find(name, how.version);
  if (!found)
    co_return problem{"chart " + quote(name) + " matching " + how.version + " not found in " +
                      repository + " index. (try 'helm repo update'): " + found.error().text};
  if ((*found)->urls.empty())
    co_return problem{"chart " + quote(reference) + " has no downloadable URLs"};
  auto at = resolve_reference(entry->url, (*found)->urls.front());
  if (!at) co_return problem{"invalid chart URL format: " + reference};
  found_chart out{*at, (*found)->digest, *entry};
  co_return out;
}

awaitable<outcome<chart_source::found_chart>> chart_source::resolve(std::string reference,
                                                                    chart_origin how) {
  outcome<found_chart> out = problem{};
  if (!how.repo_url.empty()) {
    auto found = co_await find_in_repository(how.repo_url, reference, how);
    if (!found) co_return found.error();
    out = std::move(*found);
  } else {
    const auto u = parse_url(reference);
    if (!u) co_return problem{"invalid chart URL format: " + reference};
    const bool whole = u->is_absolute() && !u->host.empty() && !u->path.empty();
    if (whole)
      out = co_await resolve_url(reference, how);
    else
      out = co_await resolve_name(reference, how);
    if (!out) co_return out;
  }
  auto& from = out->from;
  // Flags come before what a file says.
  if (!how.username.empty() || !how.password.empty()) {
    from.username = how.username;
    from.password = how.password;
  }
  if (!how.tls.certificate_file.empty()) from.certificate_file = how.tls.certificate_file;
  if (!how.tls.key_file.empty()) from.key_file = how.tls.key_file;
  if (!how.tls.ca_file.empty()) from.ca_file = how.tls.ca_file;
  from.skip_tls_verify = from.skip_tls_verify || how.tls.skip_verify;
  from.pass_credentials_all = from.pass_credentials_all || how.pass_credentials;
  co_return out;
}

awaitable<outcome<bool>> chart_source::check_provenance(downloaded_chart& chart,
                                                        std::string keyring) {
  if (keyring.empty()) keyring = where_.keyring;
  const auto check = [](const std::string& name, const std::string& archive,
                        const std::string& provenance, const std::string& keys) {
    return verify_chart(name, archive, provenance, keys);
  };
  auto verified =
      co_await loop_.offload(check, chart.file_name, chart.archive, chart.provenance, keyring);
  if (!verified) co_return verified.error();
  chart.verified = std::move(*verified);
  co_return true;
}

awaitable<outcome<downloaded_chart>> chart_source::download_oci(std::string reference,
                                                                chart_origin how,
                                                                provenance_use provenance) {
  const auto named = parse_oci_reference(reference);
  if (!named) co_return named.error();
  chart_registry r(loop_, web_, registry_options_of(where_, how, named->registry));
  auto at = co_await r.resolve(reference, how.version);
  if (!at) co_return at.error();
  wanted_parts chart_only;
  auto pulled = co_await r.pull(*at, chart_only);
  if (!pulled) co_return pulled.error();
  downloaded_chart out;
  out.notes = pulled->notes;
  auto file = archive_name_of(*at);
  if (!file) co_return file.error();
  out.file_name = *file;
  out.archive = std::move(pulled->archive);
  if (provenance == provenance_use::none) co_return out;
  wanted_parts signature;
  signature.chart = false;
  signature.provenance = true;
  auto signed_part = co_await r.pull(*at, signature);
  if (!signed_part) {
    if (provenance == provenance_use::always)
      co_return problem{"failed to fetch provenance " + quote(reference + ".prov")};
    out.warnings.push_back("WARNING: Verification not found for " + reference + ": " +
                           signed_part.error().text);
    co_return out;
  }
  out.notes.insert(out.notes.end(), signed_part->notes.begin(), signed_part->notes.end());
  out.provenance = std::move(signed_part->provenance);
  co_return out;
}

awaitable<outcome<downloaded_chart>> chart_source::download_found(found_chart what,
                                                                  std::string keyring,
                                                                  provenance_use provenance) {
  downloaded_chart chart;
  auto name = archive_name_of(what.url);
  if (!name) co_return name.error();
  chart.file_name = *name;
  auto bytes = co_await fetch(web_, what.from, what.url, chart_archive_bytes_limit);
  if (!bytes) co_return bytes.error();
  chart.archive = std::move(*bytes);
  if (auto fits = check_digest(what.digest, chart.file_name, chart.archive); !fits)
    co_return fits.error();
  if (provenance == provenance_use::none) co_return chart;
  const std::string signature = what.url + ".prov";
  auto prov = co_await fetch(web_, what.from, signature, provenance_bytes_limit);
  if (!prov) {
    if (provenance == provenance_use::always)
      co_return problem{"failed to fetch provenance " + quote(without_user(signature))};
    chart.warnings.push_back("WARNING: Verification not found for " + without_user(what.url) +
                             ": " + prov.error().text);
    co_return chart;
  }
  chart.provenance = std::move(*prov);
  if (provenance == provenance_use::fetch) co_return chart;
  auto done = co_await check_provenance(chart, keyring);
  if (!done) co_return done.error();
  co_return chart;
}

awaitable<outcome<downloaded_chart>> chart_source::download(std::string reference, chart_origin how,
                                                            provenance_use provenance) {
  if (!is_oci(reference) || !how.repo_url.empty()) {
    auto found = co_await resolve(reference, how);
    if (!found) co_return found.error();
    if (!is_oci(found->url))
      co_return co_await download_found(std::move(*found), how.keyring, provenance);
    // An index may list charts that are in a registry; the flags were for the repository.
    reference = found->url;
    how.repo_url.clear();
    how.version.clear();
    if (!how.pass_credentials) how = without_credentials(std::move(how));
  }
  auto chart = co_await download_oci(reference, how, provenance);
  if (!chart || chart->provenance.empty() || provenance == provenance_use::fetch) co_return chart;
  auto done = co_await check_provenance(*chart, how.keyring);
  if (!done) co_return done.error();
  co_return chart;
}

awaitable<outcome<located_chart>> chart_source::locate(std::string reference, chart_origin how) {
  reference = trim_space(reference);
  how.version = trim_space(how.version);
  located_chart out;
  std::error_code e;
  if (!reference.empty() && fs::exists(reference, e)) {
    out.path = fs::absolute(reference, e).lexically_normal().string();
    if (!how.repo_url.empty())
      out.notes.push_back(
          "WARNING: local chart found in current working directory. repository url ignored chart=" +
          reference + " repository=" + without_user(how.repo_url));
    if (!how.verify) co_return out;
    if (fs::is_directory(out.path, e)) co_return problem{"unpacked charts cannot be verified"};
    downloaded_chart chart;
    chart.file_name = base_name(out.path);
    auto archive = co_await reactor::read_file(loop_, out.path, chart_archive_bytes_limit);
    if (!archive) co_return problem{archive.error().message()};
    auto prov = co_await reactor::read_file(loop_, out.path + ".prov", provenance_bytes_limit);
    if (!prov)
      co_return problem{"could not load provenance file " + out.path + ".prov: stat " + out.path +
                        ".prov: no such file or directory"};
    chart.archive = std::move(*archive);
    chart.provenance = std::move(*prov);
    auto verified = co_await check_provenance(chart, how.keyring);
    if (!verified) co_return verified.error();
    co_return out;
  }
  if (reference.starts_with('/') || reference.starts_with('.'))
    co_return problem{"path " + quote(reference) + " not found"};
  const auto use = how.verify ? provenance_use::always : provenance_use::none;
  auto chart = co_await download(reference, std::move(how), use);
  if (!chart) co_return chart.error();
  out.notes = std::move(chart->notes);
  out.path = fs::absolute(where_.repository_cache + "/" + chart->file_name, e).string();
  const auto keep = [](const downloaded_chart& chart, const std::string& path) -> outcome<bool> {
    std::error_code failed;
    fs::create_directories(fs::path(path).parent_path(), failed);
    if (auto done = reactor::store_file(path, chart.archive); !done)
      return problem{done.error().message()};
    if (!chart.provenance.empty())
      if (auto done = reactor::store_file(path + ".prov", chart.provenance); !done)
        return problem{done.error().message()};
    return true;
  };
  auto kept = co_await loop_.offload(keep, std::move(*chart), out.path);
  if (!kept) co_return kept.error();
  co_return out;
}

}  // namespace helm::sources
