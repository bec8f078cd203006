// The answers are kubectl's (1.36, `kubectl label --local -o jsonpath=…`).
#include "formats/json/path.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace formats {
namespace {

namespace json = boost::json;

const json::value& deployment() {
  static const json::value d = json::parse(R"({
    "metadata": {"name": "d", "labels": {"app": "web", "x.y/z": "1"}, "generation": 7},
    "spec": {"replicas": 3, "template": {"spec": {"nodeName": null, "containers": [
      {"name": "c1", "image": "i:1", "ports": [{"containerPort": 80}, {"containerPort": 443}]},
      {"name": "c2", "image": "i:2", "tty": true},
      {"name": "c3", "image": "i:3"}]}}}})");
  return d;
}

std::string answer(const std::string& text) {
  const auto path = json_path::parse(text);
  if (!path) return "parse: " + path.error();
  const auto out = path->text(deployment());
  return out ? *out : "execute: " + out.error();
}

struct row {
  const char *path, *says;
};

TEST(JsonPath, AnswersAsKubectlDoes) {
  const row rows[] = {
      {"{.metadata.name}", "d"},
      {"{ .metadata.name }", "d"},
      {"{$.metadata.name}", "d"},
      {"{@.metadata.name}", "d"},
      {"pre {.metadata.name} post", "pre d post"},
      {".metadata.name", ".metadata.name"},
      {"{.nope}", ""},
      {"{.spec.replicas}", "3"},
      {"{.metadata.labels}", R"({"app":"web","x.y/z":"1"})"},
      {R"({.metadata.labels.x\.y/z})", "1"},
      {R"({.metadata.labels['x\.y/z']})", "1"},
      {"{.metadata['name','generation']}", "d 7"},
      {"{.metadata.name .metadata.generation}", ""},
      {"{.spec.template.spec.nodeName}", "null"},
      {"{.spec.template.spec.containers[*].name}", "c1 c2 c3"},
      {"{.spec.template.spec.containers[0,2].name}", "c1 c3"},
      {"{.spec.template.spec.containers[0:2].name}", "c1 c2"},
      {"{.spec.template.spec.containers[1:].name}", "c2 c3"},
      {"{.spec.template.spec.containers[:2].name}", "c1 c2"},
      {"{.spec.template.spec.containers[0:3:2].name}", "c1 c3"},
      {"{.spec.template.spec.containers[-1].name}", "c3"},
      {"{.spec.template.spec.containers[-1:].name}", "c3"},
      {"{.spec.template.spec.containers.name}", ""},
      {"{.spec.template.spec.containers[?(@.name==\"c2\")].image}", "i:2"},
      {"{.spec.template.spec.containers[?(@.name=='c2')].image}", "i:2"},
      {"{.spec.template.spec.containers[?(@.name!=\"c2\")].name}", "c1 c3"},
      {"{.spec.template.spec.containers[?(@.image>=\"i:2\")].name}", "c2 c3"},
      {"{.spec.template.spec.containers[?(@.ports[0].containerPort>79)].name}", "c1"},
      {"{.spec.template.spec.containers[?(@.tty)].name}", "c2"},
      {"{.spec.template.spec.containers[*].ports[*].containerPort}", "80 443"},
      {"{..name}", "d c1 c2 c3"},
      {"{\"a\\tb\"}", "a\tb"},
      {"{'a'}", "a"},
      {"{true}", "true"},
      {"{5}", "5"},
      {"{range .spec.template.spec.containers[*]}{.name}{\"\\t\"}{.image}{\"\\n\"}{end}",
       "c1\ti:1\nc2\ti:2\nc3\ti:3\n"},
      {"{range .spec.template.spec.containers[*]}{range .ports[*]}{.containerPort},{end};{end}",
       "80,443,;;;"},
      {"{range .items[*]}{.x}{end}", ""},
      {"{.metadata.name", "parse: unclosed action"},
      {"{.spec.template.spec.containers[x]}", "parse: invalid array index x"},
      {"{metadata.name}", "execute: unrecognized identifier metadata"},
      {"{end}", "execute: not in range, nothing to end"},
      {"{.metadata.name[0]}", "execute: string is not array or slice"},
      {"{.spec.template.spec.containers[9].name}",
       "execute: array index out of bounds: index 9, length 3"},
      {"{.spec.template.spec.containers[0:9].name}",
       "execute: array index out of bounds: index 8, length 3"},
      {"{.spec.template.spec.containers[?(@.ports[0].containerPort==\"80\")].name}",
       "execute: incompatible types for comparison"},
  };
  for (const row& r : rows) EXPECT_EQ(answer(r.path), r.says) << r.path;
}

// `kubectl label --local` and, where every number is a float, `helm show values --jsonpath`.
TEST(JsonPath, WritesNumbersAndJsonAsGoDoes) {
  const json::value root = json::parse(R"({"z": 1, "data": {"b": 1234567.5, "a": "<b>& é"},
    "c": 1e30, "d": 10000000, "e": 0.00001234, "f": 999999.5, "g": 9007199254740993,
    "h": [1.5, 10000000, null, {"y": 1e-7, "x": true}]})");
  struct {
    const char *path, *typed, *all_float;
  } const rows[] = {
      {"{.data}", R"({"a":"\u003cb\u003e\u0026 é","b":1234567.5})", nullptr},
      {"{.data.a}", "<b>& é", nullptr},
      {"{.data.b} {.c} {.e} {.f}", "1.2345675e+06 1e+30 1.234e-05 999999.5", nullptr},
      {"{.d}", "10000000", "1e+07"},
      {"{.g}", "9007199254740993", "9.007199254740992e+15"},
      {"{.h}", R"([1.5,10000000,null,{"x":true,"y":1e-7}])", nullptr},
      {"{.h[*]}", R"(1.5 10000000 null {"x":true,"y":1e-7})",
       R"(1.5 1e+07 null {"x":true,"y":1e-7})"},
  };
  for (const auto& r : rows) {
    const auto path = json_path::parse(r.path);
    ASSERT_TRUE(path) << r.path;
    EXPECT_EQ(*path->text(root), r.typed) << r.path;
    EXPECT_EQ(*path->text(root, json_path::numbers::all_float), r.all_float ? r.all_float : r.typed)
        << r.path;
  }
}

TEST(JsonPath, ACellIsWrittenAsGoPrintsValues) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"b": {"d": [1, "x", null]}, "a": true})", "map[a:true b:map[d:[1 x <nil>]]]"},
      {"[1.5, 1e7]", "[1.5 1e+07]"},
      {"null", "<none>"},
      {"\"a b\"", "a b"},
      {"[]", "[]"},
  };
  for (const auto& [text, cell] : rows) EXPECT_EQ(cell_text(json::parse(text)), cell) << text;
}

TEST(JsonPath, AColumnMayBeSpelledWithAndWithoutBraces) {
  for (const char* spelled :
       {"metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}"}) {
    const auto path = json_path::parse_relaxed(spelled);
    ASSERT_TRUE(path) << spelled;
    EXPECT_EQ(path->find(deployment())->size(), 1u);
  }
  EXPECT_FALSE(json_path::parse_relaxed("{a}{b}"));
  EXPECT_FALSE(json_path::parse_relaxed(""));
}

TEST(JsonPath, NestingWithoutEndIsRefused) {
  std::string text = "{";
  for (int i = 0; i < 200; ++i) text += "[?(@";
  EXPECT_FALSE(json_path::parse(text));
  EXPECT_FALSE(json_path::parse(std::string(70'000, 'x')));
}

}  // namespace
}  // namespace formats
