#include "helm/template/parsed_texts.hpp"

#include "helm/template/function.hpp"
#include "helm/template/parser.hpp"

#include <utility>

namespace helm {

std::shared_ptr<const parsed_texts::templates> parsed_texts::parse(const std::string& text) {
  if (const auto* known = young_.known.find(text)) return *known;
  std::shared_ptr<const templates> out;
  if (const auto* known = old_.known.find(text))
    out = *known;
  else
    out = std::make_shared<const templates>(
        parse_template("gotpl", text, [](std::string_view name) { return find_function(name); }));
  keep(text, out);
  return out;
}

void parsed_texts::keep(const std::string& text, std::shared_ptr<const templates> t) {
  if (text.size() > limit) return;
  if (young_.bytes + text.size() > limit) old_ = std::exchange(young_, {});
  young_.known.try_emplace(text, std::move(t));
  young_.bytes += text.size();
}

}  // namespace helm
