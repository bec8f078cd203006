#include "registry/bounded_json.hpp"

#include "formats/digest.hpp"
#include "formats/json/values.hpp"
#include "formats/plain/text.hpp"
#include "reactor/loop.hpp"
#include "registry/document.hpp"

#include <utility>

namespace registry {
namespace {

/// What the loop reads itself takes less than a millisecond.
constexpr std::size_t read_at_once_bytes = 64u << 10;

outcome<boost::json::value> value_in(const std::string& text, std::size_t most_values) {
  if (formats::json_values_in(text) > most_values)
    return formats::problem{"it has more than " + std::to_string(most_values) + " values"};
  boost::system::error_code failed;
  auto read = read_document(formats::to_valid_utf8(text), failed);
  if (failed) return formats::problem{failed.message()};
  return read;
}

digested_manifest manifest_in(std::string& text, const std::string& content_type) {
  digested_manifest out{{}, formats::digest_of(text), read_manifest(text, content_type)};
  out.text = std::move(text);
  return out;
}

digested_text digest_in_text(std::string& text) {
  digested_text out{{}, formats::digest_of(text)};
  out.text = std::move(text);
  return out;
}

}  // namespace

awaitable<outcome<boost::json::value>> read_bounded(reactor::loop& l, std::string text,
                                                    std::size_t most_values) {
  if (text.size() <= read_at_once_bytes) co_return value_in(text, most_values);
  co_return co_await l.offload(&value_in, std::move(text), most_values);
}

awaitable<digested_manifest> read_digested(reactor::loop& l, std::string text,
                                           std::string content_type) {
  if (text.size() <= read_at_once_bytes) co_return manifest_in(text, content_type);
  co_return co_await l.offload(&manifest_in, std::move(text), std::move(content_type));
}

awaitable<digested_text> digested(reactor::loop& l, std::string text) {
  if (text.size() <= read_at_once_bytes) co_return digest_in_text(text);
  co_return co_await l.offload(&digest_in_text, std::move(text));
}

}  // namespace registry
