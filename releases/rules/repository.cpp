#include "releases/rules/repository.hpp"

#include "formats/version_range.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/files.hpp"
#include "releases/rules/fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace policies::releases {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;
using need = yaml_source::need;

constexpr std::size_t most_folders = 100, most_files = 20'000, most_in_list = 1'000;
constexpr std::uintmax_t most_file_bytes = 1024 * 1024, most_bytes = 256 * 1024 * 1024;

result<void> check_count(const json::array& list, const yaml_source& from, const place& at) {
  if (list.size() <= most_in_list) return {};
  return make_fault(errc::limit, "read " + from.file(),
                    at.name + " has more than " + std::to_string(most_in_list) + " entries");
}

class repository_reader {
public:
  explicit repository_reader(fs::path root) : root_(std::move(root)) {}

  result<repository> read() {
    auto folders = entries(root_);
    if (!folders) return folders.error();
    read_index();
    for (const fs::path& path : *folders) {
      std::error_code ec;
      if (!fs::is_directory(path, ec)) continue;
      if (out_.folders.size() == most_folders)
        return make_fault(errc::limit, "read Releases in " + root_.string(),
                          "more than " + std::to_string(most_folders) + " folders");
      if (auto done = read_folder(path); !done) return done.error();
    }
    if (auto text = optional_file(root_ / "waivers.yaml"); text) {
      auto waivers = read_waivers(*text, "waivers.yaml");
      if (waivers) {
        out_.waivers = std::move(*waivers);
      } else {
        out_.unreadable.push_back({"waivers.yaml", waivers.error()});
      }
    }
    if (auto text = optional_file(root_ / "kube-versions.yaml"); text) {
      auto ranges = read_app_ranges(*text, "kube-versions.yaml");
      if (ranges) {
        out_.app_ranges = std::move(*ranges);
      } else {
        out_.unreadable.push_back({"kube-versions.yaml", ranges.error()});
      }
    }
    const bool any = std::any_of(out_.folders.begin(), out_.folders.end(),
                                 [](const auto& f) { return !f.second.releases.empty(); });
    if (!any && out_.unreadable.empty())
      return make_fault(
          errc::not_found, "read Releases in " + root_.string(),
          "there is none; they are in FOLDER/v1.2.3/release.yaml or FOLDER/v1.2.3.yaml");
    return std::move(out_);
  }

private:
  /// Sorted, so that two machines see the same.
  static result<std::vector<fs::path>> entries(const fs::path& folder) {
    std::error_code ec;
    std::vector<fs::path> found;
    for (fs::directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec)) {
      if (i->path().filename().string().starts_with('.')) continue;
      found.push_back(i->path());
      if (found.size() > most_files)
        return make_fault(errc::limit, "read " + folder.string(),
                          "more than " + std::to_string(most_files) + " entries");
    }
    if (ec == std::errc::no_such_file_or_directory || ec == std::errc::not_a_directory)
      return make_fault(errc::not_found, "read Releases in " + folder.string(), "no such folder");
    if (ec) return make_fault(reactor::error_code(ec), "read " + folder.string());
    std::sort(found.begin(), found.end());
    return found;
  }

  result<std::string> file(const fs::path& path) {
    auto text = reactor::load_file(path.string(), most_file_bytes);
    if (!text) return text.error();
    bytes_ += text->size();
    if (bytes_ > most_bytes || ++files_ > most_files)
      return make_fault(errc::limit, "read Releases in " + root_.string(),
                        "more than 256 MiB or " + std::to_string(most_files) + " files");
    return text;
  }

  /// Nothing when there is none; what cannot be read is listed.
  std::optional<std::string> optional_file(const fs::path& path) {
    std::error_code ec;
    if (!fs::exists(path, ec)) return std::nullopt;
    auto text = file(path);
    if (text) return std::move(*text);
    out_.unreadable.push_back({name_of(path), text.error()});
    return std::nullopt;
  }

  std::string name_of(const fs::path& path) const {
    return path.lexically_relative(root_).generic_string();
  }

  void read_index() {
    const auto text = optional_file(root_ / "index.tsv");
    if (!text) return;
    std::vector<std::string> head;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      std::vector<std::string> cells;
      for (std::size_t cell = at; cell <= end;) {
        const std::size_t stop = std::min(text->find('\t', cell), end);
        cells.push_back(text->substr(cell, stop - cell));
        cell = stop + 1;
      }
      at = end + 1;
      if (head.empty()) {
        head = std::move(cells);
        continue;
      }
      const auto column = [&](std::string_view name) -> std::string {
        const auto found = std::find(head.begin(), head.end(), name);
        const auto i = static_cast<std::size_t>(found - head.begin());
        return i < cells.size() ? cells[i] : std::string();
      };
      if (column("archived") == "yes") archived_.insert(column("file"));
    }
  }

  result<void> read_folder(const fs::path& path) {
    provider_folder folder;
    folder.name = path.filename().string();
    if (auto done = read_releases(path, folder, false); !done) return done;
    std::error_code ec;
    if (fs::is_directory(path / "archived", ec)) {
      if (auto done = read_releases(path / "archived", folder, true); !done) return done;
    }
    if (const auto text = optional_file(path / "requests.yaml")) {
      const std::string name = name_of(path / "requests.yaml");
      auto rules = read_requests(*text, name);
      if (rules) {
        folder.requests = std::move(*rules);
      } else {
        out_.unreadable.push_back({name, rules.error()});
      }
    }
    if (const auto text = optional_file(path / "kustomization.yaml"))
      folder.registered = read_resources(*text, name_of(path / "kustomization.yaml"));
    if (folder.releases.empty() && !folder.requests && !folder.registered) return {};
    const auto place_of = [](const document& d) {
      return formats::view_strict_version(d.stored_as).value_or(formats::version_view());
    };
    std::stable_sort(folder.releases.begin(), folder.releases.end(),
                     [&](const auto& a, const auto& b) {
                       return formats::compare_versions(place_of(*a), place_of(*b)) < 0;
                     });
    std::string name = folder.name;
    out_.folders.emplace(std::move(name), std::move(folder));
    return {};
  }

  result<void> read_releases(const fs::path& path, provider_folder& into, bool archived) {
    auto found = entries(path);
    if (!found) return found.error();
    for (const fs::path& p : *found) {
      std::string stored_as = p.filename().string();
      std::error_code ec;
      const bool is_release = p.extension() == ".yaml" || fs::exists(p / "release.yaml", ec);
      if (is_release &&
          formats::view_strict_version(p.extension() == ".yaml" ? p.stem().string() : stored_as) &&
          !stored_as.starts_with('v'))
        out_.unreadable.push_back({name_of(p), make_fault(errc::malformed, "read " + name_of(p),
                                                          "a Release is stored as v" + stored_as)});
      if (!stored_as.starts_with('v')) continue;
      fs::path where = p;
      if (fs::is_directory(p, ec)) {
        where = p / "release.yaml";
      } else if (p.extension() == ".yaml") {
        stored_as = p.stem().string();
      } else {
        continue;
      }
      const std::string name = name_of(where);
      auto text = file(where);
      if (!text && text.error().code == errc::limit && bytes_ > most_bytes) return text.error();
      auto read = text ? read_document(*text, name) : result<document>(text.error());
      if (!read) {
        out_.unreadable.push_back({name, read.error(), text && text->empty()});
        continue;
      }
      read->folder = into.name;
      read->stored_as = std::move(stored_as);
      read->archived = archived || archived_.contains(name);
      into.releases.push_back(std::make_shared<const document>(std::move(*read)));
    }
    return {};
  }

  std::optional<std::vector<std::string>> read_resources(std::string_view text,
                                                         const std::string& name) {
    auto source = yaml_source::read(text, name);
    if (!source) {
      out_.unreadable.push_back({name, source.error()});
      return std::nullopt;
    }
    std::vector<std::string> resources;
    const place top;
    if (const json::array* list =
            source->list(source->root(), "resources", top, "", need::optional)) {
      for (const json::value& v : *list) {
        if (v.is_string()) resources.emplace_back(v.get_string());
      }
    }
    return resources;
  }

  fs::path root_;
  repository out_;
  std::set<std::string> archived_;
  std::uintmax_t bytes_ = 0;
  std::size_t files_ = 0;
};

}  // namespace

result<request_file> read_requests(std::string_view text, std::string file) {
  auto source = yaml_source::read(text, file);
  if (!source) return source.error();
  yaml_source& from = *source;
  request_file out;
  out.file = std::move(file);
  const place top;
  const std::string subject = "requests/" + out.file;
  const json::array* blocks = from.list(from.root(), "releases", top, subject, need::required);
  if (blocks == nullptr) {
    out.problems = std::move(from.problems);
    return out;
  }
  if (auto fits = check_count(*blocks, from, top / "releases"); !fits) return fits.error();
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const place here = (top / "releases").entry(i, "");
    const json::object* block = from.object((*blocks)[i], here, subject);
    if (block == nullptr) continue;
    request_block b;
    b.range = from.text(*block, "name", here, subject, need::required).value_or("");
    (void)from.unknown(*block, {"name", "requests"}, here, subject);
    const json::array* requests = from.list(*block, "requests", here, subject, need::required);
    if (requests == nullptr) continue;
    if (auto fits = check_count(*requests, from, here / "requests"); !fits) return fits.error();
    for (std::size_t j = 0; j < requests->size(); ++j) {
      const place at = (here / "requests").entry(j, "");
      const json::object* o = from.object((*requests)[j], at, subject);
      if (o == nullptr) continue;
      request r;
      r.name = from.text(*o, "name", at, subject, need::required).value_or("");
      r.version = from.text(*o, "version", at, subject, need::required).value_or("");
      r.issue = from.text(*o, "issue", at, subject, need::optional).value_or("");
      (void)from.unknown(*o, {"name", "version", "issue", "except"}, at, subject);
      if (const json::array* except = from.list(*o, "except", at, subject, need::optional)) {
        if (auto fits = check_count(*except, from, at / "except"); !fits) return fits.error();
        for (std::size_t k = 0; k < except->size(); ++k) {
          const place inside = (at / "except").entry(k, "");
          const json::object* e = from.object((*except)[k], inside, subject);
          if (e == nullptr) continue;
          (void)from.unknown(*e, {"releaseVersion", "reason"}, inside, subject);
          r.except.push_back(
              {from.text(*e, "releaseVersion", inside, subject, need::required).value_or(""),
               from.text(*e, "reason", inside, subject, need::optional).value_or("")});
        }
      }
      b.requests.push_back(std::move(r));
    }
    out.blocks.push_back(std::move(b));
  }
  if (from.too_long) return *from.too_long;
  out.problems = std::move(from.problems);
  return out;
}

result<std::vector<waiver>> read_waivers(std::string_view text, std::string file) {
  auto source = yaml_source::read(text, file, "waivers");
  if (!source) return source.error();
  yaml_source& from = *source;
  std::vector<waiver> out;
  const place top;
  const json::array* list = from.list(from.root(), "waivers", top, "", need::optional);
  if (list != nullptr) {
    if (auto fits = check_count(*list, from, top / "waivers"); !fits) return fits.error();
    for (std::size_t i = 0; i < list->size(); ++i) {
      const place here = (top / "waivers").entry(i, "");
      const json::object* o = from.object((*list)[i], here, "");
      if (o == nullptr) continue;
      waiver w;
      (void)from.unknown(
          *o, {"rule", "subject", "release", "train", "hash", "reason", "by", "until"}, here, "");
      const bool of_train = o->contains("train") && !o->contains("release");
      if (of_train) w.about = waiver::subject_kind::train;
      w.place = from.file() + ": " + here.name;
      const char* of = of_train ? "train" : "release";
      for (const auto& [name, into] :
           {std::pair{"rule", &w.rule}, {"subject", &w.subject}, {of, &w.of}, {"hash", &w.hash}})
        *into = from.text(*o, name, here, "", need::required).value_or("");
      for (const auto& [name, into] :
           {std::pair{"reason", &w.reason}, {"by", &w.by}, {"until", &w.until}})
        *into = from.text(*o, name, here, "", need::optional).value_or("");
      out.push_back(std::move(w));
    }
  }
  if (from.too_long) return *from.too_long;
  // A waiver that is misread would excuse something else: all of them or none.
  if (!from.problems.empty())
    return make_fault(errc::malformed, "read waivers",
                      from.problems.front().evidence + ": " + from.problems.front().why);
  return out;
}

result<std::map<std::string, std::string>> read_app_ranges(std::string_view text,
                                                           std::string file) {
  auto source = yaml_source::read(text, std::move(file));
  if (!source) return source.error();
  std::map<std::string, std::string> out;
  for (const auto& [key, member] : source->root())
    out[key] = source->text(source->root(), key, place(), "", need::required).value_or("");
  if (source->too_long) return *source->too_long;
  if (!source->problems.empty())
    return make_fault(errc::malformed, "read ranges of Kubernetes",
                      source->problems.front().evidence + ": " + source->problems.front().why);
  return out;
}

std::shared_ptr<const document> base_of(const provider_folder& folder, std::size_t index) {
  if (index == 0) return nullptr;
  const auto at = reactor::parse_rfc3339(folder.releases[index]->date);
  for (std::size_t i = index; at && i-- > 0;) {
    const auto before = reactor::parse_rfc3339(folder.releases[i]->date);
    if (before && *before <= *at) return folder.releases[i];
  }
  return folder.releases[index - 1];
}

std::shared_ptr<const document> repository::find(const std::string& name) const {
  for (const auto& [folder_name, folder] : folders) {
    for (const auto& d : folder.releases) {
      if (d->name == name) return d;
    }
  }
  return nullptr;
}

std::shared_ptr<const document> repository::find(const std::string& provider,
                                                 const std::string& version) const {
  const std::string bare = version.starts_with('v') ? version.substr(1) : version;
  if (auto found = find(provider + "-" + bare)) return found;
  const auto folder = folders.find(provider);
  if (folder == folders.end()) return nullptr;
  for (const auto& d : folder->second.releases) {
    if (d->stored_as == "v" + bare) return d;
  }
  return nullptr;
}

const unreadable_file* repository::unreadable_of(const std::string& provider,
                                                 const std::string& version) const {
  const std::string stored =
      version.empty() ? "" : "/v" + (version.starts_with('v') ? version.substr(1) : version);
  for (const unreadable_file& f : unreadable) {
    if (!stored.empty() && !f.file.ends_with(stored + ".yaml") &&
        f.file.find(stored + "/") == f.file.npos)
      continue;
    if (may_be_of(f.file, provider)) return &f;
  }
  return nullptr;
}

bool repository::may_be_of(const std::string& file, const std::string& provider) const {
  const std::size_t slash = file.find('/');
  const std::string folder = file.substr(0, slash);
  if (provider.empty() || slash == file.npos || folder == provider) return true;
  const auto found = folders.find(folder);
  return found == folders.end() || found->second.releases.empty() ||
         std::ranges::any_of(found->second.releases,
                             [&](const auto& d) { return d->name.starts_with(provider + "-"); });
}

result<repository> read_repository(std::string root) {
  return repository_reader(fs::path(std::move(root)).lexically_normal()).read();
}

}  // namespace policies::releases
