// What nobody should write and somebody will: archives, values, schemas and templates. The texts
// are those of Helm, which differential/bad_input.py asks; where Helm has no bound they are ours.
#include "formats/yaml/reader.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/charts/content_type.hpp"
#include "helm/go.hpp"
#include "helm/render/render.hpp"
#include "helm/schema/schema.hpp"
#include "tests/gzip.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace helm {
namespace {

const std::string chart_yaml = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

/// One entry of a tar; `size` may say something else than what follows.
std::string entry(const std::string& name, const std::string& data = "", char kind = '0',
                  std::uint64_t size = ~0ull) {
  std::string header(512, '\0');
  const auto put = [&header](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  char number[16];
  put(0, name);
  put(100, "0000644");
  std::snprintf(number, sizeof number, "%011llo",
                static_cast<unsigned long long>(size == ~0ull ? data.size() : size));
  put(124, number);
  header[156] = kind;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number, sizeof number, "%06o", sum);
  put(148, number);
  header[154] = '\0';
  return header + data + std::string((512 - data.size() % 512) % 512, '\0');
}

/// The error that a packed chart with these entries as well gives; "" when it is read.
std::string archive_error(const std::string& entries) {
  const auto read = read_archive(
      tests::gzip(entry("c/Chart.yaml", chart_yaml) + entries + std::string(1024, '\0')));
  return read ? "" : read.error().text;
}

TEST(BadArchive, IsRefusedInHelmsWords) {
  EXPECT_EQ(archive_error(entry("c/x", "x")), "");
  EXPECT_EQ(archive_error(entry("c/../../x", "x")), "chart illegally references parent directory");
  EXPECT_EQ(archive_error(entry("c\\..\\..\\x", "x")),
            "chart illegally references parent directory");
  EXPECT_EQ(archive_error(entry("c//etc/passwd", "x")), "chart illegally contains absolute paths");
  EXPECT_EQ(archive_error(entry("c/C:/x", "x")), "chart contains illegally named files");
  EXPECT_EQ(archive_error(entry("Chart.yaml", "x")),
            "chart illegally contains content outside the base directory: \"Chart.yaml\"");
  EXPECT_EQ(archive_error(entry("c/big", "", '0', 5u * 1024 * 1024 + 1)),
            "decompressed chart file \"c/big\" is larger than the maximum file size 5242880");
  EXPECT_EQ(archive_error(entry("c/huge", "", '0', 077777777777)),
            "decompressed chart is larger than the maximum file size 104857600");
  std::string many;
  for (int i = 0; i < 50000; ++i) many += entry("c/f" + std::to_string(i));
  EXPECT_EQ(archive_error(many), "chart archive holds more than 50000 files");
}

TEST(BadArchive, LinksAndDevicesAreEmptyFiles) {
  for (const char kind : {'1', '2', '3', '4', '6'}) {
    const auto read = read_archive(tests::gzip(
        entry("c/Chart.yaml", chart_yaml) + entry("c/l", "", kind, 12) + std::string(1024, '\0')));
    ASSERT_TRUE(read) << kind << read.error().text;
    EXPECT_EQ(read->at(1).data, "") << kind;
  }
}

TEST(BadArchive, ThatIsCutSaysSo) {
  const auto whole = tests::gzip(entry("c/Chart.yaml", chart_yaml) + std::string(1024, '\0'));
  for (const std::size_t cut : {std::size_t{5}, std::size_t{12}, whole.size() / 2}) {
    const auto read = read_archive(std::string_view(whole).substr(0, cut));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text, "unexpected EOF") << cut;
  }
  EXPECT_EQ(read_archive("").error().text, "EOF");
  EXPECT_EQ(read_archive("not gzip at all, surely").error().text, "gzip: invalid header");
  EXPECT_EQ(read_archive(tests::gzip("hello")).error().text, "unexpected EOF");
  EXPECT_EQ(read_archive(tests::gzip(std::string(2000, 'x'))).error().text,
            "archive/tar: invalid tar header");
}

TEST(BadArchive, OfNothingButFoldersIsBoundedToo) {
  const auto folder = entry("c/d/", "", '5');
  std::string folders;
  for (int i = 0; i < 410000; ++i) folders += folder;
  const auto packed = tests::gzip(folders, 1);
  EXPECT_LT(packed.size(), 4u << 20);
  EXPECT_EQ(read_archive(packed).error().text,
            "decompressed chart is larger than the maximum file size 104857600");
}

TEST(ContentType, KnowsWhatPeopleTakeForAChart) {
  const std::string rest(600, ' ');
  EXPECT_EQ(content_type("PK\3\4" + rest), "application/zip");
  EXPECT_EQ(content_type("  <!DOCTYPE html>" + rest), "text/html; charset=utf-8");
  EXPECT_EQ(content_type("<?xml version=\"1.0\"?>"), "text/xml; charset=utf-8");
  EXPECT_EQ(content_type("apiVersion: v2\n" + rest), "text/plain; charset=utf-8");
  EXPECT_EQ(content_type("apiVersion: v2\n"), "application/octet-stream");  // zeros follow
  EXPECT_EQ(content_type(""), "application/octet-stream");
}

std::string yaml_error(const std::string& text) {
  const auto read = read_go_yaml_map(text);
  return read ? "" : read.error().text;
}

TEST(BadYaml, ThatHoldsItselfEnds) {
  const std::string prefix = "error converting YAML to JSON: yaml: ";
  EXPECT_EQ(yaml_error("a: &a [*a]\n"), prefix + "anchor 'a' value contains itself");
  EXPECT_EQ(yaml_error("&p\n  *p:\n  *p:\n :"), prefix + "anchor 'p' value contains itself");
  EXPECT_EQ(yaml_error("null: &a [*a]\n"), prefix + "anchor 'a' value contains itself");
  EXPECT_EQ(
      yaml_error("? [a, {b: 1}]\n: 2\n"),
      prefix + "invalid map key: []interface {}{\"a\", map[interface {}]interface {}{\"b\":1}}");
}

TEST(BadYaml, ThatIsDeepIsBounded) {
  const auto lists = [](std::size_t n) {
    return "a: " + std::string(n, '[') + std::string(n, ']');
  };
  EXPECT_EQ(yaml_error(lists(9999)), "");
  EXPECT_EQ(
      yaml_error(lists(10000)),
      "error unmarshaling JSON: while decoding JSON: invalid character '[' exceeded max depth");
  EXPECT_EQ(yaml_error(lists(10001)),
            "error converting YAML to JSON: yaml: exceeded max depth of 10000");
  std::string key = "? ";
  for (int i = 0; i < 9000; ++i) key += "[";
  key += std::string(9000, ']') + "\n: 1\n";
  // too long to be shown
  EXPECT_EQ(yaml_error(key), "error converting YAML to JSON: yaml: invalid map key");
}

TEST(BadYaml, KeysThatJsonHasNotAreNamedWithTheirLastValue) {
  EXPECT_EQ(yaml_error("null: 1\n~: 2\n"),
            "error converting YAML to JSON: unsupported map key of type: %!s(<nil>), key: <nil>, "
            "value: 2");
}

std::string schema_error(const std::string& schema, const std::string& values = "a: 1\n") {
  const auto compiled = json_schema::compile(schema);
  return compiled ? compiled->check(*read_go_yaml_map(values)) : compiled.error().text;
}

TEST(BadSchema, IsHeldAgainstItsOwnDraft) {
  const std::string head =
      "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation "
      "failed with "
      "'https://json-schema.org/draft/2020-12/schema#'\n";
  EXPECT_EQ(schema_error("12"), head + "- at '': got number, want boolean or object");
  EXPECT_EQ(schema_error(R"({"required":"a"})"),
            head + "- at '': 'allOf' failed\n  - at '/required': got string, want array");
  EXPECT_EQ(
      schema_error(
          R"({"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"nope"}}})"),
      "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation "
      "failed with "
      "'http://json-schema.org/draft-07/schema#'\n- at '/properties/a/type': 'anyOf' failed\n"
      "  - at '/properties/a/type': value must be one of 'array', 'boolean', 'integer', 'null', "
      "'number', 'object', 'string'\n"
      "  - at '/properties/a/type': got string, want array");
  EXPECT_EQ(schema_error("{"), "unexpected EOF");
  EXPECT_EQ(schema_error(""), "EOF");
  EXPECT_EQ(schema_error("{} {}"), "invalid character after top-level value");
}

TEST(BadSchema, ReferencesLeadSomewhereOrAreErrors) {
  EXPECT_EQ(schema_error(R"({"properties":{"a":{"$ref":"#/definitions/nope"}}})"),
            "json-pointer in \"file:///values.schema.json#/definitions/nope\" not found");
  EXPECT_EQ(schema_error(R"({"properties":{"a":{"$ref":"#/a~5"}}})"),
            "invalid json-pointer \"file:///values.schema.json#/a~5\"");
  EXPECT_EQ(schema_error(R"({"properties":{"a":{"$ref":"#nope"}}})"),
            "anchor in \"file:///values.schema.json#nope\" not found in schema "
            "\"file:///values.schema.json\"");
  for (const char* outside : {"file:///etc/passwd", "https://example.org/x.json", "other.json"})
    EXPECT_TRUE(schema_error(R"({"$ref":")" + std::string(outside) + R"("})")
                    .starts_with("failing loading \""))
        << outside;
  EXPECT_EQ(schema_error(R"({"$ref":"#"})"),
            "- at '': both /$ref and  resolve to \"file:///values.schema.json#\" causing reference "
            "cycle\n");
  EXPECT_EQ(schema_error(R"({"$ref":"urn:x:y"})"), "");
  EXPECT_EQ(schema_error(R"({"$ref":"http://json-schema.org/draft-07/schema#"})", "type: string\n"),
            "");
  EXPECT_EQ(
      schema_error(R"({"$ref":"http://json-schema.org/draft-07/schema#"})", "minLength: -1\n"),
      "- at '/minLength': 'allOf' failed\n  - at '/minLength': minimum: got -1, want 0\n");
}

TEST(BadSchema, ThatDoublesItsWorkIsGivenUp) {
  std::string all = R"({"$ref":"#/$defs/s0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const auto next = R"({"$ref":"#/$defs/s)" + std::to_string(i + 1) + R"("})";
    all += "\"s" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  EXPECT_EQ(schema_error(all + R"("s60":{"type":"object"}}})"),
            "the schema refers to itself too often to be checked\n");
}

TEST(Schema, DynamicReferencesFindTheOutermost) {
  const std::string tree =
      R"("$defs":{"tree":{"$id":"https://x/tree","$dynamicAnchor":"node","type":"object",)"
      R"("properties":{"children":{"type":"array","items":{"$dynamicRef":"#node"}},"data":true}}})";
  const std::string open = R"({"$ref":"https://x/tree",)" + tree + "}";
  const std::string strict =
      R"({"$dynamicAnchor":"node","$ref":"https://x/tree","unevaluatedProperties":false,)" + tree +
      "}";
  const std::string values = "children:\n- daat: 1\n";
  EXPECT_EQ(schema_error(open, values), "");
  EXPECT_EQ(schema_error(strict, values),
            "- at '/children/0/daat': false schema\n- at '/children': false schema\n");
}

TEST(Schema, ManyItemsAreComparedInOnePass) {
  std::string many = "a: [";
  for (int i = 0; i < 50000; ++i) many += std::to_string(i) + ",";
  const std::string unique = R"({"properties":{"a":{"uniqueItems":true}}})";
  EXPECT_EQ(schema_error(unique, many + "{x: 1}, {x: 2}]\n"), "");
  EXPECT_EQ(schema_error(unique, many + "7.0]\n"), "- at '/a': items at 7 and 50,000 are equal\n");
}

std::string render_error(const std::string& text) {
  std::vector<std::string> warnings;
  const auto c = load_files({{"Chart.yaml", chart_yaml}, {"templates/x.yaml", text}}, warnings);
  const auto parsed = parsed_chart::parse(*c);
  if (!parsed) return parsed.error().text;
  render_options options;
  options.limits.output_bytes = 4 << 20;
  options.limits.walk_steps = 1'000'000;
  const auto files = parsed->render(value(value::map_type{}), {}, default_capabilities(), options);
  return files ? "" : files.error().text;
}

/// A limit ended it: of what is made, or of the steps that it took to make it.
bool is_enough(const std::string& error) {
  return error == "rendering template failed: the templates made more than 4194304 bytes" ||
         error == "rendering template failed: the templates walk over too many values";
}

TEST(BadTemplate, WhatFunctionsHandBackCountsWhateverMadeIt) {
  for (const char* grow :
       {"print $s $s", "printf \"%s%s\" $s $s", "html $s $s", "js $s \"<\" $s", "urlquery $s $s",
        "println $s $s", "quote $s", "squote $s $s", "cat $s $s", "toJson $s", "b64enc $s",
        "nindent 8 $s", "wrapWith 1 $s $s", "regexReplaceAll \"x\" $s \"xx\"",
        "join $s (list $s $s)", "include \"twice\" $s",
        "tpl \"{{ .s }}{{ .s }}\" (dict \"s\" $s \"Template\" $.Template)"}) {
    const auto error = render_error(
        "{{ define \"twice\" }}{{ . }}{{ . }}{{ end }}{{ $s := \"x \\\"\" }}{{ range until 400 "
        "}}{{ $s = " +
        std::string(grow) + " }}{{ end }}");
    EXPECT_TRUE(is_enough(error)) << grow << ": " << error;
  }
}

TEST(BadTemplate, MapsAndListsThatAreCopiedCount) {
  const std::string some =
      "{{ $m := dict }}{{ range $i := until 2000 }}{{ $_ := set $m (print $i) 1 }}{{ end }}{{ $l "
      ":= list }}{{ range until 100000 }}{{ $l = append $l (";
  for (const char* copy :
       {"deepCopy $m", "merge (dict) $m", "mergeOverwrite (dict) $m", "omit $m \"1\"",
        "until 10000", "fromJson (toJson $m)", "fromYaml (toYaml $m)", "keys $m",
        "splitList \"1\" (toJson $m)", "toStrings (values $m)"}) {
    const auto error = render_error(some + std::string(copy) + ") }}{{ end }}");
    EXPECT_TRUE(is_enough(error)) << copy << ": " << error;
  }
}

TEST(BadTemplate, ZonesThatAreFoldersAreNoZones) {
  for (const char* name : {"Europe", "nowhere", "UTC\\x00", "../../../etc/passwd", "/etc/passwd"})
    EXPECT_EQ(render_error("{{ dateInZone \"15:04\" 0 \"" + std::string(name) + "\" }}"), "")
        << name;
}

}  // namespace
}  // namespace helm
