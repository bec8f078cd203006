#pragma once

#include "reactor/plain/result.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace cli {

/// The text of `file` with newer facts in it. A fact that `facts` has too is an image by its ref, a
/// tag by project and name, an ancestry by project and range, a pin by holder, project and field,
/// or a project by its name: each of its fields that differs is replaced. What `facts` adds stands
/// behind the others. Every other byte stays: comments, and what else the user wrote of a fact.
/// Shape    `text` is empty, a train document, or what an earlier call returned; `asked` as
///          collect_facts returns it: a list of which nothing was found is written to an empty text
///          alone. What is added has the line breaks of the text.
/// Errors   errc::malformed names the file and what in it is neither a train document nor facts;
///          the caller writes nothing then.
reactor::result<std::string> with_facts(std::string text, const std::string& file,
                                        const boost::json::object& asked);

}  // namespace cli
