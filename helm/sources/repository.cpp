#include "helm/sources/repository.hpp"

#include "formats/digest.hpp"
#include "helm/go.hpp"
#include "helm/sources/settings.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <filesystem>

namespace helm::sources {

using ::registry::credentials;
using ::registry::problem_of;
using ::registry::resolve_reference;
using ::registry::status_text;
using ::registry::web_request;
using ::registry::without_user;

namespace {

constexpr int not_modified = 304;
/// A server that names its content by a longer name is asked for it again.
constexpr std::size_t etag_limit_bytes = 1'024;

/// "open /x: no such file or directory", as Go says it.
problem file_problem(const reactor::fault& f, const std::string& verb, const std::string& path) {
  if (f.code == reactor::errc::not_found)
    return {verb + " " + path + ": no such file or directory"};
  return {f.message()};
}

problem file_problem(const std::error_code& e, const std::string& verb, const std::string& path) {
  return {verb + " " + path + ": " + lower(e.message())};
}

outcome<bool> make_folder_of(const std::string& path) {
  std::error_code e;
  const auto folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, e);
  if (e) return file_problem(e, "mkdir", folder.string());
  return true;
}

outcome<bool> store(const std::string& path, std::string_view bytes, mode_t mode) {
  if (auto made = make_folder_of(path); !made) return made;
  if (auto written = reactor::store_file(path, bytes, mode); !written)
    return file_problem(written.error(), "open", path);
  return true;
}

}  // namespace

awaitable<outcome<std::string>> fetch(web& w, repository_entry from, std::string target,
                                      std::size_t limit_bytes, reactor::nanoseconds timeout) {
  auto got =
      co_await fetch_changed(w, std::move(from), std::move(target), {}, limit_bytes, timeout);
  if (!got) co_return got.error();
  co_return std::move(got->body);
}

awaitable<outcome<fetched>> fetch_changed(web& w, repository_entry from, std::string target,
                                          std::string etag, std::size_t limit_bytes,
                                          reactor::nanoseconds timeout, body_taker on_piece) {
  web_request r;
  r.on_piece = std::move(on_piece);
  if (!etag.empty()) r.fields.add("If-None-Match", etag);
  r.url = target;
  r.limit_bytes = limit_bytes;
  r.timeout = timeout;
  reactor::secret authorization;
  if (!from.username.empty() && !from.password.empty())
    authorization = reactor::http::basic_authorization(from.username, from.password.reveal());
  r.with = credentials(from.pass_credentials_all ? target : from.url, std::move(authorization),
                       {from.certificate_file, from.key_file, from.ca_file, from.skip_tls_verify});
  auto answer = co_await w.ask(std::move(r));
  if (!answer) co_return problem_of(answer.error(), "GET", target);
  fetched out;
  if (!etag.empty() && answer->status == not_modified) {
    out.etag = std::move(etag);
    out.unchanged = true;
    co_return out;
  }
  if (answer->status != 200)
    co_return problem{"failed to fetch " + without_user(target) + " : " +
                      status_text(answer->status)};
  out.etag = answer->fields.get("ETag");
  if (out.etag.size() > etag_limit_bytes) out.etag.clear();
  out.body = std::move(answer->body);
  co_return out;
}

awaitable<outcome<downloaded_index>> download_index(reactor::loop& l, web& w, repository_entry from,
                                                    reactor::nanoseconds timeout) {
  auto at = resolve_reference(from.url, "index.yaml");
  if (!at) co_return at.error();
  const std::string source = without_user(from.url);
  auto text = co_await fetch(w, std::move(from), *at, index_bytes_limit, timeout);
  if (!text) co_return text.error();
  const auto read = [](std::string& body, const std::string& of) -> outcome<downloaded_index> {
    auto content = read_index(body, of);
    if (!content) return content.error();
    return downloaded_index{std::move(body), std::move(*content)};
  };
  auto out = co_await l.offload(read, std::move(*text), source);
  co_return out;
}

awaitable<outcome<std::vector<std::string>>> update_cache(reactor::loop& l, web& w, settings where,
                                                          repository_entry from,
                                                          reactor::nanoseconds timeout) {
  const std::string name = from.name;
  auto index = co_await download_index(l, w, std::move(from), timeout);
  if (!index) co_return index.error();
  const auto keep = [](const downloaded_index& index, const std::string& charts_path,
                       const std::string& index_path) -> outcome<std::vector<std::string>> {
    std::string charts;
    for (const auto& [chart, versions] : index.content.index.entries) charts += chart + "\n";
    if (auto done = store(charts_path, charts, 0644); !done) return done.error();
    if (auto done = store(index_path, index.text, 0644); !done) return done.error();
    return index.content.skipped;
  };
  auto out =
      co_await l.offload(keep, std::move(*index), where.charts_path(name), where.index_path(name));
  co_return out;
}

awaitable<outcome<read_index_result>> cached_index(reactor::loop& l, settings where,
                                                   std::string name) {
  const auto read = [](const std::string& path) -> outcome<read_index_result> {
    auto text = reactor::load_file(path, index_bytes_limit);
    if (!text) return file_problem(text.error(), "open", path);
    auto index = read_index(*text, path);
    if (!index) return problem{"error loading " + path + ": " + index.error().text};
    return index;
  };
  auto out = co_await l.offload(read, where.index_path(name));
  co_return out;
}

awaitable<outcome<repositories_file>> load_repositories(reactor::loop& l, std::string path) {
  auto text = co_await reactor::read_file(l, path, repositories_bytes_limit);
  if (!text && text.error().code == reactor::errc::not_found) co_return repositories_file{};
  if (!text)
    co_return problem{"couldn't load repositories file (" + path + "): " + text.error().message()};
  co_return read_repositories(*text);
}

awaitable<outcome<bool>> store_repositories(reactor::loop& l, std::string path,
                                            repositories_file file) {
  auto text = write_repositories(file);
  if (!text) co_return text.error();
  const auto write = [](const std::string& to, const std::string& bytes) {
    return store(to, bytes, 0600);
  };
  auto done = co_await l.offload(write, path, std::move(*text));
  co_return done;
}

outcome<bool> check_digest(const std::string& expected, const std::string& name,
                           std::string_view bytes) {
  if (expected.empty()) return true;
  const std::string wanted = lower(expected.starts_with("sha256:") ? expected.substr(7) : expected);
  const std::string sum = sha256_hex(bytes);
  if (wanted != sum)
    return problem{"sha256 sum does not match for " + name + ": " + quote("sha256:" + wanted) +
                   " != " + quote("sha256:" + sum)};
  return true;
}

}  // namespace helm::sources
