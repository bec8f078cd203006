#include "helm/functions/functions.hpp"

#include <map>

namespace helm {
namespace {

const std::map<std::string_view, const function*>& table() {
  static const auto all = [] {
    std::map<std::string_view, const function*> out;
    for (auto part : {builtin_functions(), string_functions(), list_functions(),
                      dictionary_functions(), number_functions(), encoding_functions(),
                      regex_functions(), crypto_functions(), date_functions(), engine_functions()})
      for (const auto& f : part) out.insert_or_assign(f.name, &f);
    return out;
  }();
  return all;
}

}  // namespace

const function* find_function(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> out;
  for (const auto& [name, f] : table()) out.push_back(name);
  return out;
}

}  // namespace helm
