#include "tests/helm/objects/merge_answers.hpp"

#include "helm/objects/three_way_merge.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_merge.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <charconv>
#include <map>

namespace helm::objects::testing {

namespace json = boost::json;

std::string canonical(const json::value& v) {
  if (const json::object* o = v.if_object()) {
    std::map<std::string_view, const json::value*> sorted;
    for (const auto& [name, member] : *o) sorted[name] = &member;
    std::string out = "{";
    for (const auto& [name, member] : sorted) {
      if (out.size() > 1) out += ',';
      out += json::serialize(json::value(name)) + ":" + canonical(*member);
    }
    return out + "}";
  }
  if (const json::array* a = v.if_array()) {
    std::string out = "[";
    for (const json::value& element : *a) {
      if (out.size() > 1) out += ',';
      out += canonical(element);
    }
    return out + "]";
  }
  if (const double* d = v.if_double()) {
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, *d).ptr);
  }
  return json::serialize(v);
}

namespace {

merge_answer strategic(const json::object& q, const three_states& s) {
  const std::string type(q.at("type").as_string());
  const std::size_t blank = type.find(' ');
  const k8s::merge_type* of = k8s::merge_type_of(type.substr(0, blank), type.substr(blank + 1));
  if (!of) return {"", "no type " + type};
  auto patch = strategic_three_way_patch(s, *of);
  if (!patch) return {"", patch.error().text};
  auto applied = k8s::apply_strategic_patch(s.live, *patch, *of);
  if (!applied) return {canonical(*patch), "apply: " + applied.error().text};
  return {R"({"applied":)" + canonical(*applied) + R"(,"patch":)" + canonical(*patch) + "}", ""};
}

}  // namespace

json::object parse(std::string_view text) {
  return json::parse(text).as_object();
}

merge_answer answer(const json::object& q) {
  const three_states s{q.at("before").as_object(), q.at("after").as_object(),
                       q.at("live").as_object()};
  if (q.at("kind") == "strategic") return strategic(q, s);
  return {R"({"three":)" + canonical(json_three_way_patch(s)) + R"(,"two":)" +
              canonical(merge_patch(s.before, s.after)) + "}",
          ""};
}

}  // namespace helm::objects::testing
