#include "helm/commands/verbs.hpp"

#include <algorithm>
#include <array>

namespace helm {
namespace {

using enum verb_family;
using enum verb_argument;

constexpr std::string_view no_plugins =
    "a plugin is a program that acts in Helm's place; windlass runs no program that the command "
    "line does not name";

constexpr verb all[] = {
    {"completion", "bash|zsh|fish", "prints a completion script", about, word},
    {"create", "NAME", "makes a folder with a small chart to begin with", chart, path},
    {"dependency", "", "what a chart's charts/ folder holds", source, none, "dep dependencies"},
    {"dependency build", "CHART", "fills charts/ as Chart.lock says", source, path},
    {"dependency list", "CHART", "what should lie in charts/ and what does", source, path, "ls"},
    {"dependency update", "CHART", "fills charts/ as Chart.yaml says and writes Chart.lock", source,
     path, "up"},
    {"env", "[NAME]", "the settings that hold here", about, word},
    {"get", "", "what a release was made of", release},
    {"get all", "RELEASE", "everything about a release", release, release_name},
    {"get hooks", "RELEASE", "its hooks", release, release_name},
    {"get manifest", "RELEASE", "its manifest", release, release_name},
    {"get metadata", "RELEASE", "its chart, version, revision and state", release, release_name},
    {"get notes", "RELEASE", "its notes", release, release_name},
    {"get values", "RELEASE", "the values it was given", release, release_name},
    {"help", "[COMMAND]", "what a command takes", about, word},
    {"history", "RELEASE", "the revisions of a release", release, release_name, "hist"},
    {"install", "[NAME] CHART", "installs a chart as a release", release, path},
    {"lint", "PATH…", "looks for what is wrong with charts", chart, path},
    {"list", "", "the releases of a namespace", release, none, "ls"},
    {"package", "PATH…", "makes an archive of a chart folder", source, path},
    {"plugin", "", no_plugins, refused},
    {"plugin install", "PATH", no_plugins, refused, none, "add"},
    {"plugin list", "", no_plugins, refused, none, "ls"},
    {"plugin uninstall", "PLUGIN…", no_plugins, refused, none, "rm remove"},
    {"plugin update", "PLUGIN…", no_plugins, refused, none, "up"},
    {"pull", "CHART…", "gets an archive from a repository or registry", source, path, "fetch"},
    {"push", "ARCHIVE REMOTE", "brings an archive to a registry", source, path},
    {"registry", "", "logins of OCI registries", source},
    {"registry login", "HOST", "proves a login and keeps it", source, word},
    {"registry logout", "HOST", "forgets a login", source, word},
    {"repo", "", "chart repositories, in the files that helm uses", source},
    {"repo add", "NAME URL", "adds a chart repository", source, word},
    {"repo index", "FOLDER", "writes the index of a folder of archives", source, path},
    {"repo list", "", "the chart repositories", source, none, "ls"},
    {"repo remove", "NAME…", "takes chart repositories away", source, repository_name, "rm"},
    {"repo update", "[NAME…]", "gets their indexes again", source, repository_name, "up"},
    {"rollback", "RELEASE [REVISION]", "brings a release back to a revision", release,
     release_name},
    {"search", "", "looks for charts", source},
    {"search hub", "[WORD]",
     "it asks a service on the internet; `search repo` looks through the repositories that were "
     "added",
     refused, word},
    {"search repo", "[WORD…]", "charts in the repositories that were added", source, word},
    {"show", "", "what is in a chart", chart, none, "inspect"},
    {"show all", "CHART", "everything that the other four show", chart, path},
    {"show chart", "CHART", "its Chart.yaml", chart, path},
    {"show crds", "CHART", "its CustomResourceDefinitions", chart, path},
    {"show readme", "CHART", "its README", chart, path},
    {"show values", "CHART", "its values.yaml", chart, path},
    {"status", "RELEASE", "how a release is", release, release_name},
    {"template", "[NAME] CHART", "renders a chart", chart, path},
    {"test", "RELEASE", "runs a release's tests", release, release_name},
    {"uninstall", "RELEASE…", "takes releases away", release, release_name, "del delete un"},
    {"upgrade", "RELEASE CHART", "brings a release to a chart; --install makes it", release,
     release_name},
    {"verify", "ARCHIVE, or CHART -f VALUES",
     "checks a signature, or renders with the helm on PATH as well and compares", source, path},
    {"version", "", "the Helm that this program does as", about},
};

std::string_view last_word(std::string_view name) {
  return name.substr(name.rfind(' ') + 1);
}

bool is_called(const verb& v, std::string_view word) {
  if (last_word(v.name) == word) return true;
  for (std::string_view rest = v.others; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == word) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool is_below(const verb& v, std::string_view group) {
  return v.name.size() > group.size() && v.name.starts_with(group) && v.name[group.size()] == ' ';
}

}  // namespace

std::span<const verb> verbs() {
  return all;
}

std::size_t words_of(const verb& v) {
  return v.name.find(' ') == v.name.npos ? 1 : 2;
}

bool is_group(const verb& v) {
  return std::ranges::any_of(all, [&](const verb& o) { return is_below(o, v.name); });
}

std::vector<const verb*> verbs_in(const verb& group) {
  std::vector<const verb*> out;
  for (const verb& v : all)
    if (is_below(v, group.name)) out.push_back(&v);
  return out;
}

const verb* find_verb(std::span<const std::string> arguments) {
  if (arguments.empty()) return nullptr;
  const auto* first = std::ranges::find_if(
      all, [&](const verb& v) { return words_of(v) == 1 && is_called(v, arguments[0]); });
  if (first == std::end(all)) return nullptr;
  if (arguments.size() > 1)
    for (const verb* v : verbs_in(*first))
      if (is_called(*v, arguments[1])) return v;
  return first;
}

std::vector<std::string> spelled_out(std::span<const std::string> arguments) {
  const verb* v = find_verb(arguments);
  if (!v) return {arguments.begin(), arguments.end()};
  std::vector<std::string> out;
  const std::size_t space = v->name.find(' ');
  out.emplace_back(v->name.substr(0, space));
  if (space != v->name.npos) out.emplace_back(v->name.substr(space + 1));
  out.insert(out.end(), arguments.begin() + static_cast<std::ptrdiff_t>(words_of(*v)),
             arguments.end());
  return out;
}

}  // namespace helm
