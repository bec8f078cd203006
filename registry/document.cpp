#include "registry/document.hpp"

#include <boost/json.hpp>

namespace registry {

boost::json::value read_document(std::string_view text, boost::system::error_code& failed) {
  boost::json::parse_options options;
  options.max_depth = 32;
  return boost::json::parse({text.data(), text.size()}, failed, {}, options);
}

}  // namespace registry
