#include "formats/yaml/yaml.hpp"

#include "formats/base64.hpp"
#include "formats/go/text.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace formats {
namespace {

using namespace std::string_literals;

namespace json = boost::json;

std::string as_json(std::string_view yaml) {
  auto value = parse_yaml(yaml, "text");
  return value ? json::serialize(*value) : "fault: " + value.error().message();
}

TEST(Yaml, ReadsAManifestAsKubectlWouldSendIt) {
  EXPECT_EQ(as_json("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {app: x}\nspec:\n"
                    "  containers:\n  - name: c\n    args: [\"1\", two]\n"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"x"}},)"
            R"("spec":{"containers":[{"name":"c","args":["1","two"]}]}})");
}

TEST(Yaml, ResolvesPlainScalarsAsGoYamlDoes) {
  const std::pair<const char*, const char*> table[] = {
      {"yes", "true"},
      {"Off", "false"},
      {"y", "true"},
      {"True", "true"},
      {"tRue", "\"tRue\""},
      {"~", "null"},
      {"null", "null"},
      {"", "null"},
      {"12", "12"},
      {"-12", "-12"},
      {"+7", "7"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"017", "15"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"018", "1.8E1"},
      {"08.5", "8.5E0"},
      {"1.5", "1.5E0"},
      {".5", "5E-1"},
      {"1e3", "1E3"},
      {"1.", "1E0"},
      {"1.2.3", "\"1.2.3\""},
      {"1.19", "1.19E0"},
      {"v1", "\"v1\""},
      {"-", "[null]"},
      {"2026-01-01", "\"2026-01-01\""},
      {"2026-01-01T00:00:00Z", "\"2026-01-01T00:00:00Z\""},
      {"18446744073709551615", "18446744073709551615"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"\"yes\"", "\"yes\""},
      {"'12'", "\"12\""},
      {"! 12", "\"12\""},
      {"!!str 12", "\"12\""},
      {"!!int \"12\"", "12"},
      {"!!float 3", "3E0"},
      {"!!binary aGk=", "\"hi\""},
      {"12:30:45", "\"12:30:45\""},
      {"e5", "\"e5\""},
      {"1e999", "\"1e999\""},
      {"1e-999", "0E0"},
  };
  for (const auto& [text, expected] : table) {
    auto all = parse_yaml_documents(
        std::string("[x, ") + (text[0] == '-' && !text[1] ? "[~]" : text) + "]", "t");
    ASSERT_TRUE(all) << text << ": " << all.error().message();
    const json::array& values = all->front().as_array();
    if (*text == '\0') continue;
    EXPECT_EQ(json::serialize(values[1]), expected) << text;
  }
  EXPECT_EQ(as_json("a:\nb: 1\n"), R"({"a":null,"b":1})");
}

TEST(Yaml, KeepsTheTextOfScalarsOnRequest) {
  yaml_limits limits;
  limits.scalars = yaml_scalars::own_text;
  auto value =
      parse_yaml("a: 25383e1\nb: 1.30\nc: \"1\"\nd: 2026-01-01\ne: [yes, ~]\n", "text", limits);
  ASSERT_TRUE(value);
  EXPECT_EQ(json::serialize(*value),
            R"({"a":"25383e1","b":"1.30","c":"1","d":"2026-01-01","e":["yes","~"]})");
}

TEST(Yaml, RefusesNumbersThatJsonCannotHold) {
  for (const char* text : {".inf", "-.INF", ".nan"}) {
    EXPECT_FALSE(parse_yaml(std::string("a: ") + text, "t")) << text;
  }
}

TEST(Yaml, TurnsKeysIntoText) {
  EXPECT_EQ(as_json("1: a\ntrue: b\n"), R"({"1":"a","true":"b"})");
  EXPECT_FALSE(parse_yaml("? [a]\n: b\n", "t"));
  EXPECT_FALSE(parse_yaml("~: b\n", "t"));
  EXPECT_EQ(as_json("1.50: a\n"), R"({"1.50":"a"})");
}

TEST(Yaml, RefusesTheSameKeyTwice) {
  const auto twice = parse_yaml("a: 1\nb: 2\na: 3\n", "file x.yaml");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message(), "file x.yaml: a key that is there twice at line 3, column 1");
}

TEST(Yaml, MergesWithoutOverwriting) {
  EXPECT_EQ(as_json("base: &b {x: 1, z: 2}\nc:\n  <<: *b\n  x: 9\n"),
            R"({"base":{"x":1,"z":2},"c":{"x":9,"z":2}})");
  EXPECT_EQ(as_json("a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc: {<<: [*a, *b]}\n"),
            R"({"a":{"x":1},"b":{"x":2,"z":3},"c":{"x":1,"z":3}})");
  EXPECT_FALSE(parse_yaml("<<: 1\n", "t"));
}

TEST(Yaml, ReadsSeveralDocumentsAndSkipsEmptyOnes) {
  auto all = parse_yaml_documents("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n", "t");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(json::serialize((*all)[1]), R"({"b":2})");
  EXPECT_FALSE(parse_yaml("a: 1\n---\nb: 2\n", "t"));
  EXPECT_EQ(as_json(""), "fault: text: holds no document");
  EXPECT_EQ(as_json("{\"a\": [1, \"b\\u00e9\"]}"), "{\"a\":[1,\"b\xc3\xa9\"]}");
}

TEST(Yaml, StopsExponentialAliases) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k ? ", " : "") + before;
    bomb += "]\n";
  }
  const auto result = parse_yaml(bomb, "t");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, make_error_code(reactor::errc::limit));
}

TEST(Yaml, LimitsDepthSizeAndDocuments) {
  EXPECT_FALSE(parse_yaml(std::string(100, '[') + std::string(100, ']'), "t"));
  EXPECT_FALSE(parse_yaml(
      "a: &a [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
      "b: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
      "t"));
  yaml_limits small;
  small.bytes = 8;
  EXPECT_FALSE(parse_yaml("abcdefghi", "t", small));
  small = {};
  small.documents = 2;
  EXPECT_FALSE(parse_yaml_documents("--- a\n--- b\n--- c\n", "t", small));
}

TEST(Yaml, QuotesNothingInAnError) {
  const std::string secret = "Sup3rS3cret";
  for (const std::string& text : {"password: !" + secret + " x\n",
                                  "a: !<tag:" + secret + "> x\n",
                                  "a: !" + secret + " {}\n",
                                  "a: !" + secret + " []\n",
                                  "a: !!" + secret + " x\n",
                                  "a: !!int " + secret + "\n",
                                  secret + ": 1\n" + secret + ": 2\n",
                                  "{" + secret + ": 1, " + secret + ": 2}",
                                  "*" + secret,
                                  "&" + secret + " a: *x" + secret,
                                  "<<: " + secret + "\n",
                                  "? [" + secret + "]\n: 1\n",
                                  "a: " + secret + ": " + secret,
                                  "%" + secret + "\n---\na\n",
                                  "a: \"" + secret + "\\q\"",
                                  "a: '" + secret,
                                  "a: |" + secret + "\n",
                                  "@" + secret,
                                  "- " + secret + "\n" + secret,
                                  "!" + secret + "!x y",
                                  "a: [" + secret,
                                  secret + "\x01"}) {
    const auto got = parse_yaml(text, "text");
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().message().find(secret), std::string::npos) << got.error().message();
    EXPECT_NE(got.error().message().find(" at "), std::string::npos) << got.error().message();
  }
}

TEST(Yaml, FindsTheLineOfAPath) {
  const std::string text =
      "# a comment\nusers:\n- name: a\n- name: b\n  user:\n    exec: {a: 1}\n    token: x\nend: "
      "*x\n";
  const auto line = [&](std::vector<std::string> path) { return yaml_line_of(text, path); };
  EXPECT_EQ(line({"users"}), 2u);
  EXPECT_EQ(line({"users", "0"}), 3u);
  EXPECT_EQ(line({"users", "1", "user", "exec"}), 6u);
  EXPECT_EQ(line({"users", "1", "user", "token"}), 7u);
  EXPECT_EQ(line({"users", "1", "user", "none"}), 6u);
  EXPECT_EQ(line({"end"}), 8u);
  EXPECT_EQ(line({"none"}), 2u);
  EXPECT_EQ(yaml_line_of("{", std::vector<std::string>{"a"}), 1u);
}

TEST(Yaml, NamesWhereItIsBroken) {
  EXPECT_EQ(as_json("a: [1, 2\nb: 3\n"),
            "fault: text: did not find expected ',' or ']' at line 2, column 2");
  EXPECT_EQ(as_json("a: *nope\n"), "fault: text: unknown alias at line 1, column 4");
  EXPECT_EQ(as_json("a: !ruby/object x\n"),
            "fault: text: a tag that is not supported at line 1, column 4");
  EXPECT_FALSE(parse_yaml(std::string("a: \xff\xfe\x00\x01", 7), "t"));
}

TEST(Yaml, PrintsAsKubectlDoes) {
  const auto value = json::parse(
      R"({"kind":"Pod","apiVersion":"v1","spec":{"args":["1","yes","plain",""],"empty":{},"none":[],)"
      R"("ports":[{"port":80,"on":true}],"text":"a\nb\n","n":null,"f":1.5}})");
  EXPECT_EQ(to_yaml(value),
            "apiVersion: v1\n"
            "kind: Pod\n"
            "spec:\n"
            "  args:\n"
            "  - \"1\"\n"
            "  - \"yes\"\n"
            "  - plain\n"
            "  - \"\"\n"
            "  empty: {}\n"
            "  f: 1.5\n"
            "  \"n\": null\n"
            "  none: []\n"
            "  ports:\n"
            "  - \"on\": true\n"
            "    port: 80\n"
            "  text: |\n"
            "    a\n"
            "    b\n");
}

TEST(Yaml, ReadsBackWhatItPrints) {
  const char* documents[] = {
      R"({"a":"x: y","b":"# no","c":" lead","d":"trail ","e":"- dash","f":"*star","g":"&amp","h":"!tag","i":"%p"})",
      R"({"a":"line\n","b":"two\nlines","c":"\n\nblank","d":"tab\there","e":"nul\u0000","f":"\u001b[0m","g":"\u00e9\u4e2d\ud83d\ude00"})",
      R"({"a":"0x10","b":"1_0","c":".5","d":"~","e":"null","f":"<<","g":"=","h":"2026-01-01","i":"1e3","j":"0o7"})",
      R"({"n":[1,-1,1.0,0.1,1e300,-2.5e-7,18446744073709551615],"t":[true,false,null],"o":{"":1,"a b":2,"yes":3}})",
      R"([[],[[]],{},[{}],"",[["x",["y"]]]])",
      R"("just text")",
      R"({"  spaces\nfirst":"  indented\nlines\n"})",
      R"({"t":"a\r\nb","u":"\u2028x","v":"x\u0085y","w":"ends with colon:","x":"trailing newline \n \n"})",
  };
  for (const char* text : documents) {
    const json::value value = json::parse(text);
    for (const key_order order : {key_order::sorted, key_order::kept}) {
      const std::string yaml = to_yaml(value, order);
      auto back = parse_yaml(yaml, "t");
      ASSERT_TRUE(back) << back.error().message() << "\n" << yaml;
      EXPECT_EQ(*back, value) << yaml << json::serialize(*back);
    }
  }
}

TEST(Yaml, HoldsNothingButText) {
  EXPECT_FALSE(parse_yaml("a: !!binary //79\n", "t"));
  EXPECT_EQ(to_yaml(json::value("a\xff\xfe")), "a??\n");
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_FALSE(valid_utf8(bad));
  }
  EXPECT_TRUE(valid_utf8("a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"));
}

TEST(Base64, EncodesAndDecodes) {
  const std::pair<std::string, std::string> table[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\0\xff\xfe"s, "AP/+"}};
  for (const auto& [bytes, text] : table) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
  EXPECT_EQ(decode_base64(" Zm9v\nYmFy\r\n"), "foobar");
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Zg===", "Zg==Zg==", "Z===", "=", "Zm9v=", "Zm-v", "Zm9vY", "Zg=a"}) {
    EXPECT_FALSE(decode_base64(bad)) << bad;
  }
}

}  // namespace
}  // namespace formats
