#pragma once

#include "helm/sources/dependencies/dependency_rules.hpp"
#include "helm/sources/locate.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

struct dependency_options {
  std::string chart_path;
  chart_origin origin;  // login and TLS for a registry, keyring for downloads
  provenance_use provenance = provenance_use::none;
  bool skip_refresh = false;
};

/// Fills a chart's charts/ folder and keeps Chart.lock.
/// Shape    everything is fetched before anything in charts/ changes.
class dependency_manager {
public:
  /// `say` gets lines for a person. `source` outlives this.
  dependency_manager(chart_source& source, dependency_options options,
                     std::function<void(const std::string&)> say);

  /// Chooses versions again from Chart.yaml.
  awaitable<outcome<bool>> update();
  /// Fetches exactly what Chart.lock says; without one it is an update.
  awaitable<outcome<bool>> build();

private:
  struct archive {
    std::string file_name, bytes;
  };
  awaitable<outcome<chart_ptr>> load();
  awaitable<outcome<bool>> update(chart_ptr c);
  awaitable<void> refresh_added();
  /// A failure is told and stops nothing.
  awaitable<void> refresh(repository_entry entry);
  awaitable<void> refresh_unmanaged(const dependency_list& dependencies,
                                    std::map<std::string, std::string>& names);  // borrowed
  awaitable<outcome<chart_lock>> choose(
      const dependency_list& dependencies,
      const std::map<std::string, std::string>& names);  // borrowed
  awaitable<outcome<offer>> offer_for(dependency wanted, std::string repository);
  awaitable<outcome<bool>> download_all(std::vector<locked_dependency>& dependencies);  // borrowed
  awaitable<outcome<archive>> download(chart_source::found_chart from);
  awaitable<outcome<chart_source::found_chart>> find_url(locked_dependency d);
  /// How the registry of an "oci://…" is asked. The chart names its registries, so the flags count
  /// where it names a single one; of several the user meant one that is not known.
  chart_origin origin_for(const std::string& repository) const;
  outcome<bool> check_unpacked(const locked_dependency& d) const;
  outcome<archive> pack_local(locked_dependency& d) const;
  outcome<std::vector<std::string>> replace_charts(const std::vector<locked_dependency>& kept,
                                                   const std::vector<archive>& archives) const;

  chart_source& source_;
  dependency_options options_;
  std::function<void(const std::string&)> say_;
  repositories_file known_;
  std::set<std::string> registries_;                 // that the chart names
  std::map<std::string, repository_index> indexes_;  // by repository name
};

}  // namespace helm::sources
