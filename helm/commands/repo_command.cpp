#include "formats/digest.hpp"
#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/commands/go_table.hpp"
#include "helm/go.hpp"
#include "helm/sources/file_lock.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/repository.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

namespace helm::sources {

using ::registry::join_url;
using ::registry::without_user;

namespace {

namespace fs = std::filesystem;

struct add_options {
  repository_entry entry;
  std::string password;
  bool password_from_input = false, force_update = false, allow_deprecated = false;
  reactor::nanoseconds timeout = download_timeout;
};

awaitable<command_result> add(command_context c, words arguments) {
  report out;
  add_options o;
  chart_flags places;
  source_flags f(places);
  auto& e = o.entry;
  f.text("username", 0, e.username);
  f.text("password", 0, o.password);
  f.flag("password-stdin", 0, o.password_from_input);
  f.flag("force-update", 0, o.force_update);
  f.ignored({"no-update"});
  f.text("cert-file", 0, e.certificate_file);
  f.text("key-file", 0, e.key_file);
  f.text("ca-file", 0, e.ca_file);
  f.flag("insecure-skip-tls-verify", 0, e.skip_tls_verify);
  f.flag("allow-deprecated-repos", 0, o.allow_deprecated);
  f.flag("pass-credentials", 0, e.pass_credentials_all);
  f.duration("timeout", 0, o.timeout);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  if (auto wrong = count_problem(*rest, 2, 2, "repo add", "[NAME] [URL]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  e.name = (*rest)[0];
  e.url = (*rest)[1];
  const std::string shown = without_user(e.url);
  if (!o.allow_deprecated) {
    const std::pair<const char*, const char*> gone[] = {
        {"//kubernetes-charts.storage.googleapis.com", "https://charts.helm.sh/stable"},
        {"//kubernetes-charts-incubator.storage.googleapis.com",
         "https://charts.helm.sh/incubator"}};
    for (const auto& [was, now] : gone)
      if (e.url.find(was) != e.url.npos)
        co_return std::move(out).failed("repo " + quote(shown) + " is no longer available; try " +
                                        quote(now) + " instead");
  }
  auto locked = co_await file_lock::take(c.loop, c.where.repository_config);
  if (!locked) co_return std::move(out).failed(locked.error().text);
  auto file = co_await load_repositories(c.loop, c.where.repository_config);
  if (!file) co_return std::move(out).failed(file.error().text);
  if (!e.username.empty() && o.password.empty()) {
    if (o.password_from_input) {
      o.password = c.read_input();
      for (const char end : {'\n', '\r'})
        if (o.password.ends_with(end)) o.password.pop_back();
    } else {
      auto answer = c.ask_secret("Password: ");
      if (!answer) co_return std::move(out).failed(answer.error().text);
      o.password = answer->reveal();
    }
  }
  e.password = reactor::secret(o.password);
  if (e.name.find('/') != e.name.npos)
    co_return std::move(out).failed("repository name (" + e.name +
                                    ") contains '/', please specify a different name without '/'");
  const auto* present = file->find(e.name);
  if (present && !o.force_update) {
    if (!(*present == e))
      co_return std::move(out).failed("repository name (" + e.name +
                                      ") already exists, please specify a different name");
    out.say(quote(e.name) + " already exists with the same configuration, skipping");
    co_return std::move(out).done();
  }
  web network(c.loop, c.env);
  repository_entry entry = e;
  auto skipped = co_await update_cache(c.loop, network, c.where, std::move(entry), o.timeout);
  co_await network.stop();
  if (!skipped)
    co_return std::move(out).failed(
        "looks like " + quote(shown) +
        " is not a valid chart repository or cannot be reached: " + skipped.error().text);
  for (const auto& line : *skipped) out.warn(line);
  file->put(e);
  auto stored = co_await store_repositories(c.loop, c.where.repository_config, std::move(*file));
  if (!stored) co_return std::move(out).failed(stored.error().text);
  out.say(quote(e.name) + " has been added to your repositories");
  co_return std::move(out).done();
}

std::string listed(const repositories_file& file, output_format form) {
  value::list_type all;
  go_table table;
  table.row({"NAME", "URL"});
  for (const auto& e : file.entries) {
    const std::string url = without_user(e.url);
    table.row({e.name, url});
    all.push_back(record({{"name", e.name}, {"url", url}}));
  }
  const value whole(std::move(all));
  if (form == output_format::table) return table.text() + "\n";
  return form == output_format::json ? *write_json(whole) + "\n" : *write_go_yaml(whole);
}

awaitable<command_result> list(command_context c, words arguments) {
  report out;
  output_format form = output_format::table;
  chart_flags places;
  source_flags f(places);
  add_output_flag(f, form);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  if (!rest->empty())
    co_return std::move(out).failed(
        "\"helm repo list\" accepts no arguments\n\nUsage:  helm repo "
        "list [flags]");
  auto file = co_await load_repositories(c.loop, c.where.repository_config);
  if (!file) co_return std::move(out).failed(file.error().text);
  if (file->entries.empty() && form == output_format::table)
    co_return std::move(out).failed("no repositories to show");
  out.result.out = listed(*file, form);
  co_return std::move(out).done();
}

awaitable<command_result> update(command_context c, words arguments) {
  report out;
  reactor::nanoseconds timeout = download_timeout;
  bool fail = false;
  chart_flags places;
  source_flags f(places);
  f.duration("timeout", 0, timeout);
  f.flag("fail-on-repo-update-fail", 0, fail);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  auto file = co_await load_repositories(c.loop, c.where.repository_config);
  if (!file)
    co_return std::move(out).failed("failed loading file: " + c.where.repository_config + ": " +
                                    file.error().text);
  if (file->entries.empty())
    co_return std::move(out).failed("no repositories found. You must add one before updating");
  for (const auto& name : *rest)
    if (!file->find(name))
      co_return std::move(out).failed("no repositories found matching '" + name +
                                      "'.  Nothing will be updated");
  out.say("Hang tight while we grab the latest from your chart repositories...");
  std::vector<repository_entry> wanted;
  for (const auto& e : file->entries)
    if (rest->empty() || std::find(rest->begin(), rest->end(), e.name) != rest->end())
      wanted.push_back(e);
  std::vector<outcome<words>> ends(wanted.size(), problem{"not asked"});
  web network(c.loop, c.env);
  std::function<awaitable<void>(std::size_t)> one = [&](std::size_t i) -> awaitable<void> {
    repository_entry entry = wanted[i];
    ends[i] = co_await update_cache(c.loop, network, c.where, std::move(entry), timeout);
  };
  co_await reactor::side_by_side(wanted.size(), std::move(one));
  std::string failures;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const repository_entry& e = wanted[i];
    const outcome<words>& done = ends[i];
    if (!done) {
      out.say("...Unable to get an update from the " + quote(e.name) + " chart repository (" +
              without_user(e.url) + "):\n\t" + done.error().text);
      failures += (failures.empty() ? "" : " ") + without_user(e.url);
      continue;
    }
    for (const auto& line : *done) out.warn(line);
    out.say("...Successfully got an update from the " + quote(e.name) + " chart repository");
  }
  co_await network.stop();
  if (fail && !failures.empty())
    co_return std::move(out).failed("Failed to update the following repositories: [" + failures +
                                    "]");
  out.say("Update Complete. ⎈Happy Helming!⎈");
  co_return std::move(out).done();
}

awaitable<command_result> remove(command_context c, words arguments) {
  report out;
  chart_flags places;
  source_flags f(places);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  if (auto wrong = count_problem(*rest, 1, 0, "repo remove", "[REPO1 [REPO2 ...]]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  auto locked = co_await file_lock::take(c.loop, c.where.repository_config);
  if (!locked) co_return std::move(out).failed(locked.error().text);
  auto file = co_await load_repositories(c.loop, c.where.repository_config);
  if (!file) co_return std::move(out).failed(file.error().text);
  if (file->entries.empty()) co_return std::move(out).failed("no repositories configured");
  for (const auto& name : *rest) {
    if (!file->remove(name))
      co_return std::move(out).failed("no repo named " + quote(name) + " found");
    repositories_file left = *file;
    auto stored = co_await store_repositories(c.loop, c.where.repository_config, std::move(left));
    if (!stored) co_return std::move(out).failed(stored.error().text);
    std::error_code ignored;
    fs::remove(c.where.charts_path(name), ignored);
    fs::remove(c.where.index_path(name), ignored);
    out.say(quote(name) + " has been removed from your repositories");
  }
  co_return std::move(out).done();
}

/// Archives in the folder and in the folders right below it, in that order.
std::vector<fs::path> archives_in(const fs::path& folder) {
  std::vector<fs::path> here, below;
  std::error_code e;
  const auto collect = [&](const fs::path& in, std::vector<fs::path>& into) {
    for (const auto& entry : fs::directory_iterator(in, e))
      if (entry.path().extension() == ".tgz") into.push_back(entry.path());
  };
  collect(folder, here);
  for (const auto& entry : fs::directory_iterator(folder, e))
    if (entry.is_directory(e)) collect(entry.path(), below);
  std::sort(here.begin(), here.end());
  std::sort(below.begin(), below.end());
  here.insert(here.end(), below.begin(), below.end());
  return here;
}

outcome<repository_index> index_folder(const fs::path& folder, const std::string& base_url,
                                       const std::string& now) {
  repository_index out;
  out.generated = now;
  for (const auto& path : archives_in(folder)) {
    auto bytes = reactor::load_file(path.string(), chart_bytes_limit);
    if (!bytes) return problem{bytes.error().message()};
    auto files = read_archive(*bytes);
    std::vector<std::string> ignored;
    auto c = files ? load_files(std::move(*files), ignored) : outcome<chart_ptr>(files.error());
    if (!c) continue;  // some other archive
    const std::string name = path.filename().string();
    const auto relative = fs::relative(path.parent_path(), folder);
    const std::string parent =
        join_url(base_url, relative == "." ? std::string() : relative.generic_string());
    chart_version v;
    v.meta = (*c)->meta;
    v.urls = {parent.empty() ? name : join_url(parent, name)};
    v.created = now;
    v.digest = sha256_hex(*bytes);
    out.entries[v.meta.name].push_back(std::move(v));
  }
  return out;
}

awaitable<command_result> index(command_context c, words arguments) {
  report out;
  std::string url, merge_with;
  bool json = false;
  chart_flags places;
  source_flags f(places);
  f.text("url", 0, url);
  f.text("merge", 0, merge_with);
  f.flag("json", 0, json);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  if (auto wrong = count_problem(*rest, 1, 1, "repo index", "[DIR]"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  std::error_code e;
  const fs::path folder = fs::absolute(rest->front(), e).lexically_normal();
  const std::string now = reactor::format_rfc3339_micro(c.loop.wall());
  const auto form = json ? index_form::json : index_form::yaml;
  const auto work = [](const fs::path& folder, const std::string& url, const std::string& now,
                       index_form form, const std::string& merge_with) -> outcome<bool> {
    auto made = index_folder(folder, url, now);
    if (!made) return made.error();
    const auto store = [&](const repository_index& what, const fs::path& to) -> outcome<bool> {
      auto text = write_index(what, form);
      if (!text) return text.error();
      if (auto done = reactor::store_file(to.string(), *text); !done)
        return problem{done.error().message()};
      return true;
    };
    if (!merge_with.empty()) {
      std::error_code missing;
      repository_index other;
      if (fs::exists(merge_with, missing)) {
        auto text = reactor::load_file(merge_with, index_bytes_limit);
        if (!text) return problem{"merge failed: " + text.error().message()};
        auto read = read_index(*text, merge_with);
        if (!read)
          return problem{"merge failed: error loading " + merge_with + ": " + read.error().text};
        other = std::move(read->index);
      } else {
        other.generated = now;
        if (auto done = store(other, merge_with); !done) return done;
      }
      made->merge(std::move(other));
    }
    made->sort();
    return store(*made, folder / "index.yaml");
  };
  auto done = co_await c.loop.offload(work, folder, url, now, form, merge_with);
  if (!done) co_return std::move(out).failed(done.error().text);
  co_return std::move(out).done();
}

}  // namespace

awaitable<command_result> repo_command(command_context c, words arguments) {
  const std::string what = arguments.empty() ? "" : arguments.front();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (what == "add") co_return co_await add(std::move(c), std::move(arguments));
  if (what == "list") co_return co_await list(std::move(c), std::move(arguments));
  if (what == "update") co_return co_await update(std::move(c), std::move(arguments));
  if (what == "remove") co_return co_await remove(std::move(c), std::move(arguments));
  if (what == "index") co_return co_await index(std::move(c), std::move(arguments));
  co_return report().failed("unknown command " + quote(what) + " for \"helm repo\"");
}

}  // namespace helm::sources
