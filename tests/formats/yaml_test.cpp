// One dialect after another: what each reads, refuses and writes, with the texts of its peers.
#include "formats/yaml/yaml.hpp"

#include "formats/base64.hpp"
#include "formats/json/exact.hpp"
#include "formats/json/json.hpp"
#include "formats/plain/text.hpp"
#include "formats/yaml/reader.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace formats {
namespace {

using namespace std::string_literals;

namespace json = boost::json;

std::string as_json(std::string_view yaml) {
  auto value = parse_kubernetes_yaml(yaml, "text");
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
    auto all = parse_kubernetes_documents(
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
  auto value = parse_kubernetes_yaml("a: 25383e1\nb: 1.30\nc: \"1\"\nd: 2026-01-01\ne: [yes, ~]\n",
                                     "text", limits);
  ASSERT_TRUE(value);
  EXPECT_EQ(json::serialize(*value),
            R"({"a":"25383e1","b":"1.30","c":"1","d":"2026-01-01","e":["yes","~"]})");
}

TEST(Yaml, RefusesNumbersThatJsonCannotHold) {
  for (const char* text : {".inf", "-.INF", ".nan"}) {
    EXPECT_FALSE(parse_kubernetes_yaml(std::string("a: ") + text, "t")) << text;
  }
}

TEST(Yaml, TurnsKeysIntoText) {
  EXPECT_EQ(as_json("1: a\ntrue: b\n"), R"({"1":"a","true":"b"})");
  EXPECT_FALSE(parse_kubernetes_yaml("? [a]\n: b\n", "t"));
  EXPECT_FALSE(parse_kubernetes_yaml("~: b\n", "t"));
  EXPECT_EQ(as_json("1.50: a\n"), R"({"1.50":"a"})");
}

TEST(Yaml, RefusesTheSameKeyTwice) {
  const auto twice = parse_kubernetes_yaml("a: 1\nb: 2\na: 3\n", "file x.yaml");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message(), "file x.yaml: a key that is there twice at line 3, column 1");
}

TEST(Yaml, MergesInTheOrderInWhichGoYamlDoes) {
  // Answers of sigs.k8s.io/yaml v1.6.0.
  EXPECT_EQ(as_json("b: &b {x: 1, z: 2}\na: {x: 9, <<: *b}\n"),
            R"({"b":{"x":1,"z":2},"a":{"x":1,"z":2}})");
  EXPECT_EQ(as_json("b: &b {x: 1}\nc: &c {x: 2}\na: {<<: *b, <<: *c}\n"),
            R"({"b":{"x":1},"c":{"x":2},"a":{"x":2}})");
  EXPECT_EQ(as_json("{x: 9, <<: {x: 1}}\n"), R"({"x":1})");
  EXPECT_FALSE(parse_kubernetes_yaml("a: &a {x: 1}\nb: {x: 1, <<: *a, x: 2, x: 3}\n", "t"));
}

TEST(Yaml, MergesWithoutOverwritingWhatComesAfter) {
  EXPECT_EQ(as_json("base: &b {x: 1, z: 2}\nc:\n  <<: *b\n  x: 9\n"),
            R"({"base":{"x":1,"z":2},"c":{"x":9,"z":2}})");
  EXPECT_EQ(as_json("a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc: {<<: [*a, *b]}\n"),
            R"({"a":{"x":1},"b":{"x":2,"z":3},"c":{"x":1,"z":3}})");
  EXPECT_FALSE(parse_kubernetes_yaml("<<: 1\n", "t"));
}

TEST(Yaml, ReadsSeveralDocumentsAndSkipsEmptyOnes) {
  auto all = parse_kubernetes_documents("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n", "t");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(json::serialize((*all)[1]), R"({"b":2})");
  EXPECT_FALSE(parse_kubernetes_yaml("a: 1\n---\nb: 2\n", "t"));
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
  const auto result = parse_kubernetes_yaml(bomb, "t");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, make_error_code(reactor::errc::limit));
}

TEST(Yaml, LimitsDepthSizeAndDocuments) {
  EXPECT_FALSE(parse_kubernetes_yaml(std::string(100, '[') + std::string(100, ']'), "t"));
  EXPECT_FALSE(parse_kubernetes_yaml(
      "a: &a [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
      "b: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
      "t"));
  yaml_limits small;
  small.bytes = 8;
  EXPECT_FALSE(parse_kubernetes_yaml("abcdefghi", "t", small));
  small = {};
  small.documents = 2;
  EXPECT_FALSE(parse_kubernetes_documents("--- a\n--- b\n--- c\n", "t", small));
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
    const auto got = parse_kubernetes_yaml(text, "text");
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
  EXPECT_FALSE(parse_kubernetes_yaml(std::string("a: \xff\xfe\x00\x01", 7), "t"));
}

TEST(Yaml, PrintsAsKubectlDoes) {
  const auto value = json::parse(
      R"({"kind":"Pod","apiVersion":"v1","spec":{"args":["1","yes","plain",""],"empty":{},"none":[],)"
      R"("ports":[{"port":80,"on":true}],"text":"a\nb\n","n":null,"f":1.5}})");
  EXPECT_EQ(write_kubernetes_yaml(value),
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
      const std::string yaml = write_kubernetes_yaml(value, order);
      auto back = parse_kubernetes_yaml(yaml, "t");
      ASSERT_TRUE(back) << back.error().message() << "\n" << yaml;
      EXPECT_EQ(*back, value) << yaml << json::serialize(*back);
    }
  }
}

TEST(Yaml, HoldsNothingButText) {
  EXPECT_FALSE(parse_kubernetes_yaml("a: !!binary //79\n", "t"));
  EXPECT_EQ(write_kubernetes_yaml(json::value("a\xff\xfe")), "a??\n");
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

/// The first document by both readers as JSON with sorted keys; the sentence where it is refused.
struct both_readings {
  outcome<std::string> quoting = problem{}, silent = problem{};
};

outcome<std::string> sorted(const std::string& text) {
  auto v = read_json(text);
  if (!v) return v.error();
  return write_json(*v);
}

both_readings read_by_both(const std::string& text) {
  both_readings out;
  if (auto v = read_go_yaml(text, yaml_numbers::typed, yaml_keys::unique); !v)
    out.quoting = v.error();
  else if (auto written = write_json(*v); !written)
    out.quoting = written.error();
  else
    out.quoting = sorted(*written);
  auto all = parse_kubernetes_documents(text, "t");
  if (!all)
    out.silent = problem{all.error().message()};
  else
    out.silent = all->empty() ? "null" : sorted(json::serialize(all->front()));
  return out;
}

/// What Helm's engine wrote of awkward values, our manifests, and what fuzzing begins with.
std::vector<std::string> shared_documents() {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  const auto bytes = [](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const fs::path root = WINDLASS_SOURCE_DIR;
  for (const char* folder :
       {"tests/fuzz/corpus/yaml", "tests/fuzz/corpus/helm_yaml", "tests/fuzz/corpus/helm_values",
        "tests/fuzz/corpus/kubeconfig", "tests/fuzz/corpus/release_document",
        "tests/fuzz/corpus/train", "deploy/base", "deploy/crds"})
    for (const auto& f : fs::recursive_directory_iterator(root / folder))
      if (f.is_regular_file()) out.push_back(bytes(f.path()));
  std::ifstream rows(root / "tests/helm/data/yaml.jsonl");
  for (std::string row; std::getline(rows, row);) {
    const auto v = read_json(row);
    if (!v || !v->is_map() || !v->find("out")) continue;
    for (const std::string& part : split(v->find("out")->text(), "\n==")) out.push_back(part);
  }
  return out;
}

TEST(YamlReaders, AgreeOnEveryDocumentThatBothRead) {
  std::size_t equal = 0, refused = 0, one = 0;
  for (const std::string& text : shared_documents()) {
    const both_readings r = read_by_both(text);
    equal += r.quoting && r.silent;
    refused += !r.quoting && !r.silent;
    one += r.quoting.has_value() != r.silent.has_value();
    if (r.quoting && r.silent) {
      EXPECT_EQ(*r.quoting, *r.silent) << text;
    }
  }
  EXPECT_GT(equal, 1000u);
  std::printf("## two YAML readers: %zu documents equal, %zu refused by both, %zu by one\n", equal,
              refused, one);
}

// libyaml's scanner refuses these or drops a character of them; the values are go-yaml's.
TEST(YamlReaders, TakeWhatGoYamlsScannerTakes) {
  const std::pair<std::string, std::string> rows[] = {
      {"[a:, b]", R"(["a:","b"])"},
      {"{a:}", R"({"a:":null})"},
      {"{a:, b: [x:, y:]}", R"({"a:":null,"b":["x:","y:"]})"},
      {"[? f :, h]", R"([{"f :":null},"h"])"},
      {"[http://x:, z]", R"(["http://x:","z"])"},
      {R"({a: "x\'", b:, "c": d:})", R"({"a":"x'","b:":null,"c":"d:"})"},
      {R"({"a":, b: c})", R"({"a":null,"b":"c"})"},
      {R"(a: "it\'s \' here")", R"({"a":"it's ' here"})"},
      {"a: b\n\ufeffc: \ufeffd\n", "{\"a\":\"b\",\"\ufeffc\":\"\ufeffd\"}"},
      {"\ufeffa: 1\n\ufeff: 2\n", "{\"a\":1,\"\ufeff\":2}"},
      {"{a:, \ue000b: \ue001}", "{\"a:\":null,\"\ue000b\":\"\ue001\"}"},
  };
  for (const auto& [text, is] : rows) {
    EXPECT_EQ(as_json(text), is) << text;
    const auto v = read_go_yaml(text, yaml_numbers::typed);
    ASSERT_TRUE(v) << text << v.error().text;
    EXPECT_EQ(*write_json(*v), is) << text;
  }
  for (const char* refused : {"[a:[b]]", "a: [b:}\n", "[:, a]", R"("\q")"}) {
    EXPECT_FALSE(read_go_yaml(refused)) << refused;
    EXPECT_FALSE(parse_kubernetes_yaml(refused, "t")) << refused;
  }
  EXPECT_EQ(read_go_yaml("[a:[b]]").error().text, "yaml: did not find expected ',' or ']'");
  EXPECT_EQ(read_go_yaml("[a: b?c]").error().text, "yaml: did not find expected ',' or ']'");
  EXPECT_EQ(read_go_yaml("[{a: b?c}]").error().text, "yaml: did not find expected ',' or '}'");
  // A tag that says nothing, with a bracket or a comma in it.
  EXPECT_EQ(*write_json(*read_go_yaml("a: !f]o b\nc: !![d e\n")), R"({"a":"b","c":"e"})");
  EXPECT_EQ(*write_json(*read_go_yaml("[!x, b, !y,z c, !!int, '1', {!, d: e}]")),
            R"(["b","c","1",{"d":"e"}])");
  // Each costs another reading; one text may have so many and no more.
  std::string many = "[";
  for (int i = 0; i < 101; ++i) many += "a:,";
  EXPECT_EQ(read_go_yaml(many + "]").error().text, "yaml: found unexpected ':'");
}

// go-yaml's scanner forgets that a bracket may be a key where nothing in it may be one, unless a
// token before it waits for its own colon in the same line.
TEST(YamlReaders, LoseTheKeysThatGoYamlLoses) {
  const std::string flow = "yaml: did not find expected ',' or '",
                    key = "did not find expected key",
                    list = R"(yaml: invalid map key: []interface {}{})";
  const std::pair<std::string, std::string> rows[] = {
      {"[]: v", "[]"},
      {"# c\n{} : v\nz: 1", "{}"},
      {"[ ? a]: v", R"([{"a":null}])"},
      {"{? a}: v", R"({"a":null})"},
      {"- []: v", "yaml: did not find expected '-' indicator"},
      {"- - []: v", "yaml: did not find expected '-' indicator"},
      {"k:\n- []: v", "yaml: line 1: " + key},
      {"b: 1\n[]: v", "yaml: line 1: " + key},
      {"m:\n  {}: v\n  z: 1", "yaml: line 1: " + key},
      {"? {}: v", "yaml: " + key},
      {"k: {[ ] : v}", flow + "}'"},
      {"k: [{}: v]", flow + "]'"},
      {"--- [[]: x]", flow + "]'"},
      {"\"k\": {\"a\": [], []: 1}", flow + "}'"},
      {"[\n{}: v]", "yaml: line 1: did not find expected ',' or ']'"},
      {"é: {a: 1,\n {} : v}", "yaml: line 1: did not find expected ',' or '}'"},
      // The bracket before it waits.
      {"{[]: v}", list},
      {"[[[]: x]]: y", list},
      {"[{}: v, b]", "yaml: invalid map key: map[interface {}]interface {}{}"},
      // An anchor is the key, a question mark says that it is one, and no colon loses nothing.
      {"&x []: v", list},
      {"k: {a: 1, &x []: v}", list},
      {"k: [? []: v]", list},
      {"? []\n: v", list},
      {"k: {[], b: c}", list},
      {"k: {[?\n a]: v}", "yaml: line 1: did not find expected ',' or '}'"},
      {"k: {[a]: v}", R"(yaml: invalid map key: []interface {}{"a"})"},
      {"k: {'[]': v, a: [], b: {}}", R"({"k":{"[]":"v","a":[],"b":{}}})"},
      {"[a: b, {a, b: c}, [], {}]", R"([{"a":"b"},{"a":null,"b":"c"},[],{}])"},
  };
  for (const auto& [text, is] : rows) {
    const auto v = read_go_yaml(text);
    EXPECT_EQ(v ? *write_json(*v) : v.error().text, is) << text;
  }
}

// libyaml takes these. Where the same letters stand for themselves, they are read.
TEST(YamlReaders, RefuseWhatGoYamlsScannerRefuses) {
  const std::pair<std::string, std::string> rows[] = {
      {R"("\/")", "yaml: found unknown escape character"},
      {"a: 1\nb: [x, \"http:\\/\\/y\"]\n", "yaml: line 2: found unknown escape character"},
      {"{a:, \"\\/\": 1}", "yaml: found unknown escape character"},
      {"\ufeff# é\né: \"é\n  \\/\"\n", "yaml: line 3: found unknown escape character"},
      {"%YAML 1.2\n---\na: b\n", "yaml: found incompatible YAML document"},
      {"- [a, \"\\/\", &é ':a']\n", "yaml: found unknown escape character"},
      {"a: \"x\n  \\/\n c\n", "yaml: line 2: found unknown escape character"},
      {"{a: !, b: 1}", "yaml: did not find expected ',' or '}'"},
      {"- [!!str, 1,\n  !x, b: c, \"\\/\"]\n", "yaml: line 2: found unknown escape character"},
      {"# c\n\n%YAML 1.02\n---\na: b\n", "yaml: line 2: found incompatible YAML document"},
  };
  for (const auto& [text, why] : rows) {
    const auto v = read_go_yaml(text);
    ASSERT_FALSE(v) << text;
    EXPECT_EQ(v.error().text, why) << text;
    EXPECT_FALSE(parse_kubernetes_documents(text, "t")) << text;
  }
  const std::pair<std::string, std::string> taken[] = {
      {R"(a: '\/')", R"({"a":"\\/"})"},
      {R"(a: \/ "\/")", R"({"a":"\\/ \"\\/\""})"},
      {R"(a: "\\/")", R"({"a":"\\/"})"},
      {"a: |\n  \"\\/\"\n  %YAML 1.2\n", R"({"a":"\"\\/\"\n%YAML 1.2\n"})"},
      {"%YAML 1.1\n---\na: '%YAML 1.2'\n", R"({"a":"%YAML 1.2"})"},
  };
  for (const auto& [text, is] : taken) {
    EXPECT_EQ(as_json(text), is) << text;
    const auto v = read_go_yaml(text, yaml_numbers::typed);
    ASSERT_TRUE(v) << text << v.error().text;
    EXPECT_EQ(*write_json(*v), is) << text;
  }
}

TEST(YamlReaders, ShowKeysThatJsonHasNoTextFor) {
  const std::pair<std::string, std::string> rows[] = {
      {"9999999999999999999: a",
       "unsupported map key of type: uint64, key: 0x8ac7230489e7ffff, "
       "value: \"a\""},
      {"? [18446744073709551615]\n: a",
       "yaml: invalid map key: []interface {}{0xffffffffffffffff}"},
      {"~: .nan", "unsupported map key of type: %!s(<nil>), key: <nil>, value: NaN"},
      {"a: .inf\n~: b", "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"b\""},
  };
  for (const auto& [text, why] : rows) {
    const auto v = read_go_yaml(text);
    ASSERT_FALSE(v) << text;
    EXPECT_EQ(v.error().text, why) << text;
  }
  EXPECT_EQ(*write_json(*read_go_yaml("1e40: a\n-3.5e38: b\n3.4e38: c\n")),
            R"({"-.inf":"b",".inf":"a","3.4e+38":"c"})");
}

// Each difference that there is: the reader of what may be secret takes less.
TEST(YamlReaders, DifferInWhatOneOfThemRefuses) {
  const std::string deep(100, '[');
  const std::pair<std::string, const char*> only_by_the_silent[] = {
      {"a: !foo x\n", "a tag of another language"},
      {deep + std::string(100, ']'), "64 levels"},
  };
  for (const auto& [text, why] : only_by_the_silent) {
    EXPECT_TRUE(read_go_yaml(text)) << why;
    EXPECT_FALSE(parse_kubernetes_documents(text, "t")) << why;
  }
}

// Boost.JSON 1.81 by itself misses every eighth of them by one step.
TEST(ParseJson, GivesEachNumberBackAsItWas) {
  std::mt19937_64 rng(7);
  const auto check = [](double d) {
    char text[64];
    const char* end = std::to_chars(text, text + sizeof text, d).ptr;
    boost::system::error_code code;
    const json::value v = parse_json(std::string_view(text, end), code, 8);
    ASSERT_FALSE(code);
    EXPECT_EQ(v.to_number<double>(), d) << std::string_view(text, end);
    const std::string written = json::serialize(v);
    double back = 0;
    std::from_chars(written.data(), written.data() + written.size(), back);
    EXPECT_EQ(back, d) << written;
  };
  for (const double d :
       {0.1, 0.3, 1630.0756669598359, 2043.9865761104907, 5e-324, 1.7976931348623157e308,
        123456789.12345678, -2.2250738585072014e-308, 9007199254740993.0})
    check(d);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t bits = rng();
    double d = 0;
    std::memcpy(&d, &bits, sizeof d);
    if (d - d == 0) check(d);
    check(static_cast<double>(rng() % 100'000'000) / static_cast<double>(1 + rng() % 99'999));
  }
}

TEST(ParseJson, ReadsAllElseAsBoostDoes) {
  for (const char* text :
       {R"({"a":[1,2.5,"x\u00e9y",null,true,{"b":{}}],"k\n":-0.0})", "[1,]", "1 2", "[[[[1]]]]", "",
        "1e400", R"("\ud800")", "123456789012345678901234567890", R"({"a":1,"a":2})",
        "18446744073709551615", "-9223372036854775808", "  [ ]  "}) {
    boost::system::error_code ours, theirs;
    json::parse_options options;
    options.max_depth = 3;
    const json::value a = parse_json(text, ours, 3), b = json::parse(text, theirs, {}, options);
    EXPECT_EQ(ours, theirs) << text;
    EXPECT_EQ(json::serialize(a), json::serialize(b)) << text;
  }
}

}  // namespace
}  // namespace formats
