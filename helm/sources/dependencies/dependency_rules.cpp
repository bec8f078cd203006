#include "helm/sources/dependencies/dependency_rules.hpp"

#include "formats/digest.hpp"
#include "formats/plain/path.hpp"
#include "formats/semver.hpp"
#include "helm/go.hpp"
#include "registry/reference.hpp"
#include "registry/url.hpp"

#include <algorithm>
#include <filesystem>

namespace helm::sources {

using ::registry::is_oci;
using ::registry::parse_url;
using ::registry::same_url;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unmanaged_prefix = "helm-manager-";

bool is_local(std::string_view repository) {
  return repository.starts_with("file://");
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& t : texts) out += (out.empty() ? "" : ", ") + t;
  return out;
}

/// "@name" and "alias:name" stand for a repository that was added.
bool is_alias_of(std::string_view text, std::string_view name) {
  for (const std::string_view prefix : {"@", "alias:"})
    if (text.starts_with(prefix) && text.substr(prefix.size()) == name) return true;
  return false;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code e;
  for (const auto& entry : fs::directory_iterator(folder, e))
    if (!entry.path().filename().string().starts_with('.')) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

outcome<chart_ptr> load(const std::string& path) {
  std::vector<std::string> ignored;
  return load_chart(path, ignored);
}

/// Nothing when the chart's version will do, else what is wrong.
std::string version_problem(const chart& c, const dependency& d) {
  if (c.meta.version == d.version) return {};
  const auto constraint = version_constraint::parse(d.version);
  const auto v = parse_lenient_version(c.meta.version);
  if (!constraint || !v) return "invalid version";
  return constraint->check(*v) ? "" : "wrong version";
}

std::string archive_status(const std::string& path, const dependency& d) {
  const auto c = load(path);
  if (!c) return "corrupt";
  if ((*c)->name() != d.name) return "misnamed";
  const std::string wrong = version_problem(**c, d);
  return wrong.empty() ? "ok" : wrong;
}

}  // namespace

dependency_list copy_of(const dependency_list& dependencies) {
  dependency_list out;
  for (const auto& d : dependencies) out.push_back(std::make_shared<dependency>(*d));
  return out;
}

outcome<std::string> local_path(std::string_view repository, const std::string& chart_path) {
  if (is_local(repository)) repository.remove_prefix(7);
  const std::string path = repository.starts_with('/')
                               ? clean_path(repository)
                               : clean_path(chart_path + "/" + std::string(repository));
  std::error_code e;
  if (!fs::exists(path, e)) return problem{"directory " + path + " not found"};
  return path;
}

outcome<std::map<std::string, std::string>> repository_names(
    dependency_list& dependencies, const std::vector<repository_entry>& known,
    const std::string& chart_path) {
  std::map<std::string, std::string> out;
  std::vector<std::string> missing;
  for (auto& d : dependencies) {
    if (d->repository.empty()) continue;
    if (is_local(d->repository)) {
      if (auto path = local_path(d->repository, chart_path); !path) return path.error();
      out[d->name] = d->repository;
      continue;
    }
    if (is_oci(d->repository)) {
      out[d->name] = d->repository;
      continue;
    }
    const auto match = std::find_if(known.begin(), known.end(), [&](const repository_entry& e) {
      return is_alias_of(d->repository, e.name) || same_url(e.url, d->repository);
    });
    if (match != known.end()) {
      if (is_alias_of(d->repository, match->name)) d->repository = match->url;
      out[d->name] = match->name;
      continue;
    }
    const auto u = parse_url(d->repository);
    if (!u || (!u->is_absolute() && !d->repository.starts_with('/')))
      missing.push_back(d->repository);
  }
  if (missing.empty()) return out;
  std::string text =
      "no repository definition for " + joined(missing) + ". Please add them via 'helm repo add'";
  const bool plain_name = std::any_of(missing.begin(), missing.end(), [](const std::string& m) {
    return m.find("//") == m.npos && !m.starts_with('@') && !m.starts_with("alias:");
  });
  if (plain_name)
    text +=
        "\nNote that repositories must be URLs or aliases. For example, to refer to the \"example\""
        "\nrepository, use \"https://charts.example.com/\" or \"@example\" instead of\n\"example\"."
        " Don't forget to add the repo, too ('helm repo add').";
  return problem{text};
}

std::string unmanaged_name(std::string_view repository_url) {
  return std::string(unmanaged_prefix) + sha256_hex(repository_url);
}

bool is_unmanaged(std::string_view name) {
  return name.starts_with(unmanaged_prefix);
}

std::vector<std::string> missing_repositories(const std::vector<locked_dependency>& dependencies,
                                              const std::vector<repository_entry>& known) {
  std::vector<std::string> out;
  for (const auto& d : dependencies) {
    if (d.repository.empty() || is_local(d.repository) || is_oci(d.repository)) continue;
    const bool there = std::any_of(known.begin(), known.end(), [&](const repository_entry& e) {
      return same_url(e.url, d.repository);
    });
    if (!there) out.push_back(d.repository);
  }
  return out;
}

outcome<std::optional<std::string>> choose_version(const dependency& wanted,
                                                   const offer& on_offer) {
  const auto constraint = version_constraint::parse(wanted.version);
  if (!constraint)
    return problem{"dependency " + quote(wanted.name) +
                   " has an invalid version/constraint format: " + constraint.error().text};
  for (const auto& text : on_offer.versions) {
    const auto v = parse_lenient_version(text);
    if (v && constraint->check(*v)) return std::optional(text);
  }
  if (on_offer.needs_choice) return std::optional<std::string>();
  return std::optional(wanted.version);
}

std::string described(const dependency& d) {
  return quote(d.name) + " (repository " + quote(d.repository) + ", version " + quote(d.version) +
         ")";
}

problem no_valid_version(const std::vector<std::string>& missing) {
  return {"can't get a valid version for " + std::to_string(missing.size()) +
          " subchart(s): " + joined(missing) +
          ". Make sure a matching chart version exists in the repo, or change the version "
          "constraint in Chart.yaml"};
}

outcome<const chart_version*> find_exact(const repository_index& index, const std::string& name,
                                         const std::string& wanted) {
  const auto found = index.entries.find(name);
  if (found == index.entries.end()) return problem{"entry not found"};
  const auto v = parse_lenient_version(wanted);
  for (const auto& entry : found->second) {
    if (entry.urls.empty()) continue;
    const auto own = parse_lenient_version(entry.meta.version);
    const bool same = v ? own && own->compare(*v) == 0 : entry.meta.version == wanted;
    if (wanted.empty() || same) return &entry;
  }
  return problem{"no matching version"};
}

std::string dependency_status(const std::string& chart_path, const dependency& d,
                              const chart& parent) {
  std::vector<std::string> archives, versions;
  for (const auto& path : files_in(fs::path(chart_path) / "charts")) {
    const std::string name = base_name(path);
    if (!name.starts_with(d.name + "-") || !name.ends_with(".tgz")) continue;
    archives.push_back(path);
    const auto text = std::string_view(name).substr(d.name.size() + 1);
    if (parse_strict_version(text.substr(0, text.size() - 4))) versions.push_back(path);
  }
  if (archives.size() == 1) return archive_status(archives.front(), d);
  if (archives.size() > 1) {
    if (versions.size() == 1) return archive_status(versions.front(), d);
    if (versions.size() > 1) return "too many matches";
  }
  const chart* loaded = nullptr;
  for (const auto& c : parent.dependencies)
    if (c->name() == d.name) loaded = c.get();
  if (!loaded) return "missing";
  const std::string wrong = version_problem(*loaded, d);
  return wrong.empty() ? "unpacked" : wrong;
}

std::vector<std::string> unasked_charts(const std::string& chart_path, const chart& parent) {
  std::vector<std::string> out;
  for (const auto& path : files_in(fs::path(chart_path) / "charts")) {
    std::error_code e;
    if (!fs::is_directory(path, e) && !path.ends_with(".tgz")) continue;
    const auto c = load(path);
    if (!c) {
      out.push_back("WARNING: " + quote(path) + " is not a chart.");
      continue;
    }
    const auto& asked = parent.meta.dependencies;
    if (std::none_of(asked.begin(), asked.end(),
                     [&](const auto& d) { return d->name == (*c)->name(); }))
      out.push_back("WARNING: " + quote(path) + " is not in Chart.yaml.");
  }
  return out;
}

}  // namespace helm::sources
