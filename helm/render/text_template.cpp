#include "helm/render/text_template.hpp"

#include "helm/functions/functions.hpp"
#include "helm/template/executor.hpp"
#include "helm/template/parser.hpp"

#include <algorithm>

namespace helm {

outcome<std::string> print_template(const std::string& text, const value& dot) {
  const auto find = [](std::string_view name) -> const function* {
    const auto all = builtin_functions();
    const auto found = std::ranges::find(all, name, &function::name);
    return found == all.end() ? nullptr : &*found;
  };
  try {
    template_set set;
    for (auto& t : parse_template("_", text, find)) set.add(std::move(t));
    const render_runtime none;
    executor engine(set, none, {}, missing_keys::zero, false);
    std::string out;
    engine.run(out, "_", dot);
    return out;
  } catch (const template_error& e) {
    return problem{e.what()};
  } catch (const render_stopped& e) {
    return problem{e.what()};
  }
}

}  // namespace helm
