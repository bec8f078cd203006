#include "simulation/mounted_catalogue.hpp"

#include "policies/host/embedded.hpp"

#include <filesystem>
#include <fstream>

namespace simulation {
namespace {

constexpr std::string_view below = "trustee/data/", catalogue = "versions.json";

}  // namespace

mounted_catalogue::mounted_catalogue() : folder_("catalogue") {
  for (const policies::embedded_file& f : policies::stock_files()) {
    if (!f.path.starts_with(below)) continue;
    const std::string_view name = std::string_view(f.path).substr(below.size());
    if (name == catalogue) releases_ = f.content;
    put(name, f.content);
  }
}

void mounted_catalogue::move_to(std::string_view registry) {
  std::string text = releases_;
  for (std::size_t at = 0; (at = text.find(first_registry, at)) != text.npos; at += registry.size())
    text.replace(at, first_registry.size(), registry);
  put(catalogue, text);
}

void mounted_catalogue::damage() {
  put(catalogue, releases_.substr(0, releases_.size() / 2));
}

void mounted_catalogue::put(std::string_view name, std::string_view text) const {
  const std::filesystem::path to = std::filesystem::path(folder_.path()) / name,
                              aside = to.string() + ".new";
  std::filesystem::create_directories(to.parent_path());
  std::ofstream(aside) << text;
  std::filesystem::rename(aside, to);
}

}  // namespace simulation
