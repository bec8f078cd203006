#include "policies/host/embedded.hpp"
#include "policies/host/pack.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

namespace policies {
namespace {

namespace fs = std::filesystem;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t max_packs = 64, max_data_files = 128, max_files = 64 + max_data_files;
constexpr std::uintmax_t max_lua_bytes = 64 * 1024, max_data_bytes = 256 * 1024,
                         max_pack_bytes = 1024 * 1024;
constexpr int max_depth = 4;

bool hidden(const std::string& name) {
  return name.starts_with(".") || name.ends_with("~");
}

/// The entries of a folder that count, sorted, so that two machines see the same packs in the same
/// order.
result<std::vector<fs::path>> entries(const fs::path& folder) {
  std::error_code ec;
  std::vector<fs::path> found;
  for (fs::directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec)) {
    if (hidden(i->path().filename().string())) continue;
    found.push_back(i->path());
    if (found.size() > 1000)
      return make_fault(errc::limit, "read " + folder.string(), "more than 1000 entries");
  }
  if (ec) return make_fault(reactor::error_code(ec), "read " + folder.string());
  std::sort(found.begin(), found.end());
  return found;
}

struct folder_limits {
  std::string_view of = "a pack";
  std::size_t files = max_files;
  std::uintmax_t lua_bytes = max_lua_bytes, data_bytes = max_data_bytes, all_bytes = max_pack_bytes;
};
constexpr folder_limits data_limits{"a folder of data", max_data_files, max_data_bytes,
                                    max_data_bytes, 4 * max_pack_bytes};

class pack_reader {
public:
  pack_reader(fs::path allowed, pack_files& files, folder_limits limits = {})
      : allowed_(std::move(allowed)), files_(files), limits_(limits) {}

  result<void> read(const fs::path& folder, const std::string& prefix, int depth) {
    if (depth > max_depth) return refuse(folder, "is nested more than 4 folders deep");
    auto found = entries(folder);
    if (!found) return found.error();
    for (const fs::path& path : *found) {
      std::error_code ec;
      const fs::path real = fs::canonical(path, ec);
      if (ec) return make_fault(reactor::error_code(ec), "read " + path.string());
      if (std::mismatch(allowed_.begin(), allowed_.end(), real.begin(), real.end()).first !=
          allowed_.end())
        return refuse(path, "is a link out of the folder of packs");
      const std::string name = prefix + path.filename().string();
      const fs::file_status status = fs::status(real, ec);
      auto done = status.type() == fs::file_type::directory ? read(path, name + "/", depth + 1)
                  : status.type() == fs::file_type::regular
                      ? read_file(path, real, name)
                      : refuse(path, "is neither a file nor a folder");
      if (!done) return done;
    }
    return {};
  }

private:
  static result<void> refuse(const fs::path& path, std::string_view why) {
    return make_fault(errc::refused, "read " + path.string(), why);
  }

  result<void> read_file(const fs::path& path, const fs::path& real, const std::string& name) {
    if (files_.size() >= limits_.files)
      return refuse(path, std::string(limits_.of) + " has " + std::to_string(limits_.files) +
                              " files at most");
    const std::uintmax_t limit = name.ends_with(".lua") ? limits_.lua_bytes : limits_.data_bytes;
    errno = 0;
    std::ifstream in(real, std::ios::binary);
    if (!in)
      return make_fault(
          reactor::error_code(errno == 0 ? EIO : errno, boost::system::system_category()),
          "read " + path.string());
    std::string content(limit + 1, '\0');
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (in.bad())
      return make_fault(reactor::error_code(EIO, boost::system::system_category()),
                        "read " + path.string());
    const auto size = static_cast<std::uintmax_t>(in.gcount());
    if (size > limit)
      return refuse(path, "is larger than " + std::to_string(limit / 1024) + " KiB");
    total_ += size;
    if (total_ > limits_.all_bytes)
      return refuse(path, std::string(limits_.of) + " is larger than " +
                              std::to_string(limits_.all_bytes / max_pack_bytes) + " MiB");
    // As large as it is, not as it might have been: the files of a folder are kept.
    files_.emplace(name, content.substr(0, size));
    return {};
  }

  fs::path allowed_;
  pack_files& files_;
  folder_limits limits_;
  std::uintmax_t total_ = 0;
};

pack_source read_pack(const fs::path& root, const fs::path& folder, std::string name) {
  pack_source source{std::move(name), {}, {}};
  pack_reader reader(root, source.files);
  if (auto done = reader.read(folder, "", 0); !done) source.unreadable = done.error();
  return source;
}

/// What `path` is. That it cannot be told now is no proof that it is not there: a pack would count
/// as removed.
result<fs::file_type> type_of(const fs::path& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (status.type() == fs::file_type::none)
    return make_fault(reactor::error_code(ec), "read " + path.string());
  return status.type();
}

result<bool> is_folder(const fs::path& path) {
  auto type = type_of(path);
  if (!type) return type.error();
  return *type == fs::file_type::directory;
}

result<bool> is_pack(const fs::path& folder) {
  auto is = is_folder(folder);
  if (!is || !*is) return is;
  auto type = type_of(folder / "policy.lua");
  if (!type) return type.error();
  return *type != fs::file_type::not_found;
}

}  // namespace

result<std::vector<pack_source>> read_packs(std::string root) {
  std::error_code ec;
  const fs::path real = fs::canonical(root, ec);
  const bool absent =
      ec == std::errc::no_such_file_or_directory || ec == std::errc::not_a_directory;
  if (ec && !absent) return make_fault(reactor::error_code(ec), "read policies " + root);
  auto folder_there = absent ? result<bool>(false) : is_folder(real);
  if (!folder_there) return folder_there.error();
  if (!*folder_there) return make_fault(errc::not_found, "read policies " + root, "no such folder");
  std::vector<pack_source> packs;
  auto alone = is_pack(real);
  if (!alone) return alone.error();
  if (*alone) {
    packs.push_back(read_pack(real, real, real.filename().string()));
    return packs;
  }
  auto outer = entries(real);
  if (!outer) return outer.error();
  for (const fs::path& folder : *outer) {
    auto is = is_folder(folder);
    if (!is) return is.error();
    if (!*is) continue;
    const std::string name = folder.filename().string();
    auto here = is_pack(folder);
    if (!here) return here.error();
    if (*here) {
      packs.push_back(read_pack(real, folder, name));
    } else {
      auto inner = entries(folder);
      if (!inner) return inner.error();
      for (const fs::path& below : *inner) {
        auto there = is_pack(below);
        if (!there) return there.error();
        if (*there) packs.push_back(read_pack(real, below, name + "/" + below.filename().string()));
      }
    }
    if (packs.size() > max_packs)
      return make_fault(errc::limit, "read policies " + root, "more than 64 packs");
  }
  if (packs.empty())
    return make_fault(errc::not_found, "read policies " + root,
                      "no pack in it; a pack is a folder with policy.lua");
  return packs;
}

result<void> within_limits(const pack_files& files) {
  const folder_limits most;
  const auto refuse = [](std::string why) { return make_fault(errc::refused, {}, std::move(why)); };
  if (files.size() > most.files)
    return refuse(std::string(most.of) + " has " + std::to_string(most.files) + " files at most");
  std::uintmax_t total = 0;
  for (const auto& [name, content] : files) {
    const std::uintmax_t limit = name.ends_with(".lua") ? most.lua_bytes : most.data_bytes;
    if (content.size() > limit)
      return refuse(name + " is larger than " + std::to_string(limit / 1024) + " KiB");
    total += content.size();
  }
  if (total > most.all_bytes)
    return refuse(std::string(most.of) + " is larger than " +
                  std::to_string(most.all_bytes / max_pack_bytes) + " MiB");
  return {};
}

result<pack_files> read_data_folder(std::string root) {
  std::error_code ec;
  // A mounted ConfigMap is swapped by that link: all files are those of one moment.
  const fs::path shown = fs::path(root) / "..data";
  const fs::path real = fs::canonical(fs::exists(shown, ec) ? shown : fs::path(root), ec);
  if (ec) return make_fault(reactor::error_code(ec), "read " + root);
  pack_files files;
  pack_reader reader(real, files, data_limits);
  if (auto done = reader.read(real, "", 0); !done) return done.error();
  return files;
}

std::vector<pack_source> stock_packs() {
  std::map<std::string, pack_source, std::less<>> packs;
  for (const embedded_file& file : stock_files()) {
    const std::size_t slash = file.path.rfind('/');
    if (file.path.substr(slash + 1) != "policy.lua") continue;
    const std::string folder(file.path.substr(0, slash));
    packs.emplace(folder, pack_source{folder, {}, {}});
  }
  // A file belongs to the pack whose folder it is below.
  for (const embedded_file& file : stock_files()) {
    for (std::size_t slash = file.path.rfind('/'); slash != file.path.npos && slash > 0;
         slash = file.path.rfind('/', slash - 1)) {
      const auto pack = packs.find(file.path.substr(0, slash));
      if (pack == packs.end()) continue;
      pack->second.files.emplace(file.path.substr(slash + 1), file.content);
      break;
    }
  }
  std::vector<pack_source> out;
  for (auto& [folder, pack] : packs) out.push_back(std::move(pack));
  return out;
}

}  // namespace policies
