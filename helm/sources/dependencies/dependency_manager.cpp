#include "helm/sources/dependencies/dependency_manager.hpp"

#include "formats/semver.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/go.hpp"
#include "helm/sources/archive.hpp"
#include "helm/sources/repository.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace helm::sources {

using ::registry::is_oci;
using ::registry::join_url;
using ::registry::parse_oci_reference;
using ::registry::parse_url;
using ::registry::same_url;
using ::registry::without_user;

namespace {

namespace fs = std::filesystem;

std::int64_t seconds_of(reactor::wall_time t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

outcome<chart_ptr> load_archive(const std::string& bytes) {
  auto files = read_archive(bytes);
  if (!files) return files.error();
  std::vector<std::string> ignored;
  return load_files(std::move(*files), ignored);
}

outcome<bool> write_lock_file(const std::string& path, const chart_lock& lock) {
  std::error_code e;
  const fs::path at(path);
  if (fs::is_symlink(fs::symlink_status(at, e)))
    return problem{"the " + at.filename().string() + " file is a symlink to " +
                   quote(fs::read_symlink(at, e).string())};
  if (auto done = reactor::store_file(path, write_lock(lock)); !done)
    return problem{done.error().message()};
  return true;
}

/// The base URL of an index with a piece of it, which may be a whole URL.
std::string normal_url(const std::string& base, const std::string& reference) {
  const auto u = parse_url(reference);
  return u && u->is_absolute() ? reference : join_url(base, reference);
}

/// "host:5000" of "oci://host:5000/charts".
std::string registry_host(const std::string& repository) {
  const auto u = parse_url(repository);
  return u ? u->host : std::string();
}

}  // namespace

dependency_manager::dependency_manager(chart_source& source, dependency_options options,
                                       std::function<void(const std::string&)> say)
    : source_(source), options_(std::move(options)), say_(std::move(say)) {}

awaitable<outcome<chart_ptr>> dependency_manager::load() {
  std::error_code e;
  if (!fs::exists(options_.chart_path, e))
    co_return problem{"could not find " + options_.chart_path + ": stat " + options_.chart_path +
                      ": no such file or directory"};
  if (!fs::is_directory(options_.chart_path, e))
    co_return problem{"only unpacked charts can be updated"};
  auto known = co_await load_repositories(source_.loop(), source_.where().repository_config);
  if (!known) co_return known.error();
  known_ = std::move(*known);
  std::vector<std::string> warnings;
  auto c = load_chart(options_.chart_path, warnings);
  for (const auto& w : warnings) say_(w);
  if (!c) co_return c;
  for (const auto& d : (*c)->meta.dependencies)
    if (is_oci(d->repository)) registries_.insert(registry_host(d->repository));
  const bool logs_in = !options_.origin.username.empty() || !options_.origin.password.empty() ||
                       !options_.origin.tls.certificate_file.empty();
  if (logs_in && registries_.size() > 1)
    say_("WARNING: the dependencies are in " + std::to_string(registries_.size()) +
         " registries, so the login of the flags is sent to none of them; use 'registry login'");
  co_return c;
}

chart_origin dependency_manager::origin_for(const std::string& repository) const {
  const bool only_one = registries_.size() == 1 && registries_.contains(registry_host(repository));
  return only_one ? options_.origin : without_credentials(options_.origin);
}

awaitable<void> dependency_manager::refresh(repository_entry entry) {
  const std::string name = entry.name, shown = without_user(entry.url);
  auto done =
      co_await update_cache(source_.loop(), source_.network(), source_.where(), std::move(entry));
  const std::string label = is_unmanaged(name) ? quote(shown) : quote(name);
  if (done) {
    say_("...Successfully got an update from the " + label + " chart repository");
    co_return;
  }
  say_("...Unable to get an update from the " + label + " chart repository" +
       (is_unmanaged(name) ? "" : " (" + shown + ")") + ":\n\t" + done.error().text);
}

awaitable<void> dependency_manager::refresh_added() {
  if (known_.entries.empty()) co_return;
  say_("Hang tight while we grab the latest from your chart repositories...");
  const std::vector<repository_entry> all = known_.entries;
  for (const auto& entry : all) co_await refresh(entry);
  say_("Update Complete. ⎈Happy Helming!⎈");
}

awaitable<void> dependency_manager::refresh_unmanaged(const dependency_list& dependencies,
                                                      std::map<std::string, std::string>& names) {
  std::vector<repository_entry> unmanaged;
  for (const auto& d : dependencies) {
    if (d->repository.empty() || names.contains(d->name)) continue;
    repository_entry entry;
    entry.name = names[d->name] = unmanaged_name(d->repository);
    entry.url = d->repository;
    unmanaged.push_back(std::move(entry));
  }
  if (unmanaged.empty() || options_.skip_refresh) co_return;
  say_("Getting updates for unmanaged Helm repositories...");
  for (const auto& entry : unmanaged) co_await refresh(entry);
}

awaitable<outcome<offer>> dependency_manager::offer_for(dependency wanted, std::string repository) {
  offer out;
  if (is_oci(wanted.repository)) {
    out.needs_choice = false;
    if (parse_lenient_version(wanted.version)) {
      out.versions.push_back(wanted.version);
      co_return out;
    }
    auto of = parse_oci_reference(wanted.repository + "/" + wanted.name);
    if (!of) co_return of.error();
    const chart_origin how = origin_for(wanted.repository);
    chart_registry r(source_.loop(), source_.network(),
                     registry_options_of(source_.where(), how, of->registry));
    auto versions = co_await r.versions(std::move(*of));
    if (!versions)
      co_return problem{"could not retrieve list of tags for repository " + wanted.repository +
                        ": " + versions.error().text};
    out.versions = std::move(*versions);
    co_return out;
  }
  if (!indexes_.contains(repository)) {
    auto index = co_await cached_index(source_.loop(), source_.where(), repository);
    if (!index)
      co_return problem{"no cached repository for " + repository +
                        " found. (try 'helm repo update'): " + index.error().text};
    indexes_[repository] = std::move(index->index);
  }
  const auto& entries = indexes_[repository].entries;
  const auto found = entries.find(wanted.name);
  if (found == entries.end())
    co_return problem{wanted.name + " chart not found in repo " + without_user(wanted.repository)};
  for (const auto& v : found->second)
    if (!v.urls.empty()) out.versions.push_back(v.meta.version);
  co_return out;
}

awaitable<outcome<chart_lock>> dependency_manager::choose(
    const dependency_list& dependencies, const std::map<std::string, std::string>& names) {
  chart_lock lock;
  std::vector<std::string> missing;
  for (const auto& d : dependencies) {
    locked_dependency chosen{d->name, d->repository, d->version};
    const bool local = d->repository.starts_with("file://");
    offer on_offer;
    if (d->repository.empty() || local) {
      auto path = local_path(local ? d->repository : "charts/" + d->name, options_.chart_path);
      // A subchart may also lie there as an archive.
      if (!path) co_return path.error();
      on_offer.needs_choice = local;
      std::vector<std::string> ignored;
      if (local) {
        auto c = load_chart(*path, ignored);
        if (!c) co_return c.error();
        on_offer.versions.push_back((*c)->meta.version);
      }
    } else {
      // Named before awaiting: a temporary made by ?: in the call is destroyed twice by GCC 12.
      const auto name = names.find(d->name);
      std::string served_by = name == names.end() ? std::string() : name->second;
      dependency wanted = *d;
      auto found = co_await offer_for(std::move(wanted), std::move(served_by));
      if (!found) co_return found.error();
      on_offer = std::move(*found);
    }
    auto version = choose_version(*d, on_offer);
    if (!version) co_return version.error();
    if (!*version) {
      missing.push_back(described(*d));
      continue;
    }
    chosen.version = std::move(**version);
    lock.dependencies.push_back(std::move(chosen));
  }
  if (!missing.empty()) co_return no_valid_version(missing);
  lock.generated = reactor::format_rfc3339_micro(source_.loop().wall());
  co_return lock;
}

outcome<bool> dependency_manager::check_unpacked(const locked_dependency& d) const {
  const std::string path = options_.chart_path + "/charts/" + d.name;
  std::vector<std::string> ignored;
  auto c = load_chart(path, ignored);
  if (!c) return problem{"unable to load chart '" + path + "': " + c.error().text};
  const auto constraint = version_constraint::parse(d.version);
  if (!constraint)
    return problem{"dependency " + d.name +
                   " has an invalid version/constraint format: " + constraint.error().text};
  const auto v = parse_lenient_version((*c)->meta.version);
  if (!v)
    return problem{"invalid version " + d.version + " for dependency " + d.name + ": " +
                   v.error().text};
  if (!constraint->check(*v))
    return problem{"dependency " + d.name + " at version " + (*c)->meta.version +
                   " does not satisfy the constraint " + d.version};
  return true;
}

outcome<dependency_manager::archive> dependency_manager::pack_local(locked_dependency& d) const {
  auto path = local_path(d.repository, options_.chart_path);
  if (!path) return path.error();
  std::vector<std::string> ignored;
  auto c = load_chart(*path, ignored);
  if (!c) return c.error();
  const auto constraint = version_constraint::parse(d.version);
  if (!constraint)
    return problem{"dependency " + d.name +
                   " has an invalid version/constraint format: " + constraint.error().text};
  const auto v = parse_lenient_version((*c)->meta.version);
  if (!v) return v.error();
  if (!constraint->check(*v)) return problem{"can't get a valid version for dependency " + d.name};
  auto bytes = pack_chart(**c, seconds_of(source_.loop().wall()));
  if (!bytes) return bytes.error();
  d.version = (*c)->meta.version;
  return archive{archive_name((*c)->meta), std::move(*bytes)};
}

awaitable<outcome<chart_source::found_chart>> dependency_manager::find_url(locked_dependency d) {
  chart_source::found_chart out;
  if (is_oci(d.repository)) {
    out.url = d.repository + "/" + d.name + ":" + d.version;
    co_return out;
  }
  for (const auto& entry : known_.entries) {
    if (!same_url(d.repository, entry.url)) continue;
    const std::string name = entry.name;
    if (!indexes_.contains(name)) {
      auto index = co_await cached_index(source_.loop(), source_.where(), name);
      if (!index) co_return index.error();
      indexes_[name] = std::move(index->index);
    }
    const auto found = find_exact(indexes_[name], d.name, d.version);
    if (!found) co_return problem{"could not find : " + found.error().text};
    out.url = normal_url(d.repository, (*found)->urls.front());
    out.digest = (*found)->digest;
    out.from = entry;
    co_return out;
  }
  chart_origin how;
  how.version = d.version;
  auto found = co_await source_.find_in_repository(d.repository, d.name, std::move(how));
  if (!found)
    co_return problem{"could not find : chart " + d.name + " not found in " +
                      without_user(d.repository) + ": " + found.error().text};
  co_return found;
}

awaitable<outcome<dependency_manager::archive>> dependency_manager::download(
    chart_source::found_chart from) {
  const std::string shown = without_user(from.url);
  outcome<downloaded_chart> chart = problem{};
  if (is_oci(from.url)) {
    chart_origin how = origin_for(from.url);
    chart = co_await source_.download(from.url, std::move(how), options_.provenance);
  } else {
    // The flags are for registries; a repository has the login it was added with.
    chart = co_await source_.download_found(std::move(from), options_.origin.keyring,
                                            options_.provenance);
  }
  if (!chart) co_return problem{"could not download " + shown + ": " + chart.error().text};
  for (const auto& w : chart->warnings) say_(w);
  co_return archive{std::move(chart->file_name), std::move(chart->archive)};
}

outcome<std::vector<std::string>> dependency_manager::replace_charts(
    const std::vector<locked_dependency>& kept, const std::vector<archive>& archives) const {
  std::vector<std::string> notes;
  const fs::path folder = fs::path(options_.chart_path) / "charts";
  std::set<std::string> unpacked, present;
  for (const auto& d : kept)
    if (d.repository.empty()) unpacked.insert(d.name);
  std::error_code e;
  for (const auto& a : archives) {
    present.insert(a.file_name);
    const std::string to = (folder / a.file_name).string();
    if (auto c = load_archive(a.bytes); !c) {
      notes.push_back("Could not verify " + to + " for moving: " + c.error().text + " (Skipping)");
      continue;
    }
    if (auto done = reactor::store_file(to, a.bytes); !done) return problem{done.error().message()};
  }
  notes.emplace_back("Deleting outdated charts");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, e))
    if (!entry.is_directory(e) && !present.contains(entry.path().filename().string()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    auto bytes = reactor::load_file(path.string(), chart_archive_bytes_limit);
    auto c = bytes ? load_archive(*bytes) : outcome<chart_ptr>(problem{bytes.error().message()});
    if (!c) {
      notes.push_back("Could not verify " + path.string() + " for deletion: " + c.error().text +
                      " (Skipping)");
      continue;
    }
    if (unpacked.contains((*c)->name())) continue;
    if (!fs::remove(path, e))
      notes.push_back("Could not delete " + path.string() + ": " + e.message() + " (Skipping)");
  }
  return notes;
}

awaitable<outcome<bool>> dependency_manager::download_all(
    std::vector<locked_dependency>& dependencies) {
  const fs::path folder = fs::path(options_.chart_path) / "charts";
  std::error_code e;
  if (fs::exists(folder, e) && !fs::is_directory(folder, e))
    co_return problem{quote(folder.string()) + " is not a directory"};
  fs::create_directories(folder, e);
  if (e) co_return problem{"mkdir " + folder.string() + ": " + lower(e.message())};
  say_("Saving " + std::to_string(dependencies.size()) + " charts");
  const auto failed = [&](const problem& why) {
    say_("Save error occurred:  " + why.text);
    return why;
  };
  std::vector<archive> archives;
  std::set<std::string> fetched;
  for (auto& d : dependencies) {
    if (d.repository.empty()) {
      say_("Dependency " + d.name +
           " did not declare a repository. Assuming it exists in the charts directory");
      if (auto fits = check_unpacked(d); !fits) co_return failed(fits.error());
      continue;
    }
    if (d.repository.starts_with("file://")) {
      auto packed = pack_local(d);
      if (!packed) co_return failed(packed.error());
      archives.push_back(std::move(*packed));
      continue;
    }
    auto target = co_await find_url(d);
    if (!target) co_return failed(target.error());
    const std::string label = d.name + " from repo " + without_user(d.repository);
    if (!fetched.insert(target->url).second) {
      say_("Already downloaded " + label);
      continue;
    }
    say_("Downloading " + label);
    auto one = co_await download(std::move(*target));
    if (!one) co_return failed(one.error());
    archives.push_back(std::move(*one));
  }
  auto notes = replace_charts(dependencies, archives);
  if (!notes) co_return notes.error();
  for (const auto& n : *notes) say_(n);
  co_return true;
}

awaitable<outcome<bool>> dependency_manager::update() {
  auto c = co_await load();
  if (!c) co_return c.error();
  co_return co_await update(std::move(*c));
}

awaitable<outcome<bool>> dependency_manager::update(chart_ptr c) {
  if (!c->meta.has_dependencies) co_return true;
  dependency_list wanted = copy_of(c->meta.dependencies);
  auto names = repository_names(wanted, known_.entries, options_.chart_path);
  if (!names) co_return names.error();
  co_await refresh_unmanaged(wanted, *names);
  if (!options_.skip_refresh) co_await refresh_added();
  auto lock = co_await choose(wanted, *names);
  if (!lock) co_return lock.error();
  auto done = co_await download_all(lock->dependencies);
  if (!done) co_return done;
  lock->digest = lock_digest(wanted, lock->dependencies);
  if (c->lock && c->lock->digest == lock->digest) co_return true;
  const char* name = c->meta.api_version == "v1" ? "/requirements.lock" : "/Chart.lock";
  co_return write_lock_file(options_.chart_path + name, *lock);
}

awaitable<outcome<bool>> dependency_manager::build() {
  auto c = co_await load();
  if (!c) co_return c.error();
  if (!(*c)->lock) co_return co_await update(std::move(*c));
  const auto& lock = *(*c)->lock;
  dependency_list wanted = copy_of((*c)->meta.dependencies);
  auto names = repository_names(wanted, known_.entries, options_.chart_path);
  if (!names) co_return names.error();
  if (!lock_is_current(lock, (*c)->meta, wanted)) {
    const bool old = (*c)->meta.api_version == "v1";
    co_return problem{std::string("the lock file (") + (old ? "requirements.lock" : "Chart.lock") +
                      ") is out of sync with the dependencies file (" +
                      (old ? "requirements.yaml" : "Chart.yaml") +
                      "). Please update the dependencies"};
  }
  std::string missing;
  for (const auto& m : missing_repositories(lock.dependencies, known_.entries))
    missing += (missing.empty() ? "" : ", ") + m;
  if (!missing.empty())
    co_return problem{"no repository definition for " + missing +
                      ". Please add the missing repos via 'helm repo add'"};
  if (!options_.skip_refresh) co_await refresh_added();
  std::vector<locked_dependency> dependencies = lock.dependencies;
  co_return co_await download_all(dependencies);
}

}  // namespace helm::sources
