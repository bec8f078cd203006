#pragma once

#include "formats/json/json.hpp"
#include "helm/schema/schema.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>

#include <string>

namespace cli {

/// Empty when `document` is as docs/schema says of its kind.
inline std::string breaks_schema(const boost::json::object& document) {
  const std::string kind(document.at("kind").as_string());
  const auto text = reactor::load_file(
      std::string(WINDLASS_SOURCE_DIR) + "/docs/schema/" + kind + ".json", 1024 * 1024);
  if (!text) return text.error().message();
  const auto schema = helm::json_schema::compile(*text);
  if (!schema) return schema.error().text;
  const auto value = formats::read_json(boost::json::serialize(document));
  return value ? schema->check(*value) : std::string("not JSON");
}

}  // namespace cli
