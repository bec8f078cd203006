#include "registry/rules.hpp"

#include "formats/plain/text.hpp"

#include <algorithm>

namespace registry {

using formats::lower;
using formats::trim_space;

namespace {

constexpr reactor::nanoseconds first_wait = std::chrono::milliseconds(500);

bool is_worth_retrying(const attempt& what) {
  if (what.status == 0) return what.connection_lost;
  if (what.status == 429) return true;
  const bool busy = what.status == 408 || what.status == 500 || what.status == 502 ||
                    what.status == 503 || what.status == 504;
  return busy && (what.method != "HEAD" || what.retry_after);
}

/// Whether one parameter of a link ("rel=\"next\"") gives it the relation "next".
bool is_next(std::string_view parameter) {
  const auto equals = parameter.find('=');
  if (equals == parameter.npos || lower(trim_space(parameter.substr(0, equals))) != "rel")
    return false;
  std::string_view relations = trim_space(parameter.substr(equals + 1));
  if (relations.starts_with('"')) relations.remove_prefix(1);
  if (relations.ends_with('"')) relations.remove_suffix(1);
  for (const std::string& one : formats::split(relations, " "))
    if (lower(one) == "next") return true;
  return false;
}

/// The end of the text up to the first `mark` that stands outside quotes.
std::size_t end_outside_quotes(std::string_view text, char mark) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == mark) {
      return i;
    }
  }
  return text.size();
}

std::string next_in(std::string_view field) {
  for (;;) {
    const auto open = field.find('<');
    const auto close = open == field.npos ? open : field.find('>', open);
    if (close == field.npos) return {};
    const std::string_view target = trim_space(field.substr(open + 1, close - open - 1));
    field.remove_prefix(close + 1);
    std::string_view parameters = field.substr(0, end_outside_quotes(field, ','));
    field.remove_prefix(parameters.size());
    while (!parameters.empty()) {
      const std::string_view one = parameters.substr(0, end_outside_quotes(parameters, ';'));
      if (is_next(one)) return std::string(target);
      parameters.remove_prefix(std::min(one.size() + 1, parameters.size()));
    }
  }
}

}  // namespace

std::optional<reactor::nanoseconds> wait_before_retry(const attempt& what, int sent,
                                                      const retry_limits& limits) {
  if (sent >= limits.attempts || !is_worth_retrying(what)) return std::nullopt;
  reactor::nanoseconds wait = first_wait * (1 << std::clamp(sent - 1, 0, 10));
  if (what.retry_after && *what.retry_after > reactor::nanoseconds::zero())
    wait = *what.retry_after;
  if (wait > limits.longest_wait) return std::nullopt;
  return wait;
}

after_manifest_head after_head(int status, std::string_view promised, std::string_view known) {
  if (status == 429) return after_manifest_head::give_up;  // GET would count as well
  if (status == 200 && !known.empty() && promised == known) return after_manifest_head::unchanged;
  return after_manifest_head::read_manifest;
}

bool is_head_unserved(int head_status, int get_status) {
  const bool found = get_status == 200 || get_status == 304;
  const bool passing = head_status == 401 || head_status == 408 || head_status == 429;
  return found && ((head_status >= 400 && head_status < 500 && !passing) || head_status == 501);
}

after_blob_head after_head_of_blob(int status) {
  if (status == 200) return after_blob_head::present;
  return status == 401 || status == 429 ? after_blob_head::give_up : after_blob_head::upload;
}

after_mount after_mount_answer(int status) {
  if (status == 202) return after_mount::upload_there;
  if (is_stored(status)) return after_mount::mounted;
  return status == 429 ? after_mount::give_up : after_mount::upload_again;
}

std::string next_link(const reactor::http::headers& fields) {
  for (const auto& [name, value] : fields)
    if (reactor::http::same_name(name, "Link"))
      if (std::string target = next_in(value); !target.empty()) return target;
  return {};
}

}  // namespace registry
