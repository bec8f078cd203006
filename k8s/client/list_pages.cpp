#include "k8s/client/list_pages.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/fault.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace k8s {

namespace json = boost::json;

awaitable<result<std::optional<json::object>>> list_pages::next() {
  if (ended_) co_return std::optional<json::object>();
  if (++pages_ > most_pages) {
    fault f;
    f.code = errc::invalid;
    f.doing = "list " + resource_.plural;
    f.detail = "the list does not end";
    co_return f;
  }
  auto page = co_await api_.list(resource_, options_);
  // Objects may be large: a page that is more than is taken at once is asked for in parts, and
  // those that follow it as a whole again.
  while (!page && page.error().code == errc::over_budget && options_.limit > 1) {
    options_.limit = std::max<std::uint32_t>(options_.limit / 8, 1);
    page = co_await api_.list(resource_, options_);
  }
  if (!page) co_return page.error();
  if (options_.limit < whole_) {
    const json::array* items = items_of(*page);
    read_in_parts_ += items ? items->size() : 0;
    if (read_in_parts_ >= whole_) options_.limit = whole_;
  }
  if (options_.limit == whole_) read_in_parts_ = 0;
  options_.continue_token.clear();
  json::value* metadata = page->if_contains("metadata");
  if (metadata && metadata->is_object()) {
    const json::value* token = metadata->get_object().if_contains("continue");
    if (token && token->is_string()) options_.continue_token = std::string(token->get_string());
    metadata->get_object().erase("continue");
    metadata->get_object().erase("remainingItemCount");
  }
  ended_ = options_.continue_token.empty();
  co_return std::optional<json::object>(std::move(*page));
}

std::string version_of(const json::object& page) {
  const json::value* metadata = page.if_contains("metadata");
  const json::object* of = metadata ? metadata->if_object() : nullptr;
  return of ? formats::text_member(*of, "resourceVersion") : std::string();
}

const json::array* items_of(const json::object& page) noexcept {
  const json::value* items = page.if_contains("items");
  return items && items->is_array() ? &items->get_array() : nullptr;
}

}  // namespace k8s
