#pragma once

#include "formats/json/member.hpp"
#include "helm/go.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace helm::objects {

/// A rendered value as the API gets it: integral numbers are integers, keys are sorted.
boost::json::value to_json(const value& v);

/// The documents of a manifest as a Kubernetes client reads them; empty ones are left out.
/// Problems "error parsing : error converting YAML to JSON: yaml: …", for a document that is no
///          object `unable to decode "": …`
outcome<std::vector<boost::json::object>> read_manifest(std::string_view manifest);

/// What a list holds, lists within it too; any other object is its only element.
std::vector<boost::json::object> flatten(boost::json::object document);

/// The string at metadata.<field>, or empty.
std::string metadata_text(const boost::json::object& o, std::string_view field);
using formats::text_member;

}  // namespace helm::objects
