#include "run.hpp"

#include <gmock/gmock.h>

namespace policies {
namespace {

using testing::HasSubstr;

TEST(PolicyData, ReadsToml) {
  EXPECT_EQ(text_of("return toml.decode('a = 1\\nd = 2026-01-02\\nt = "
                    "2026-01-02T03:04:05Z\\n[[x]]\\nb = [true, \"y\"]')"),
            R"({"a":1,"d":"2026-01-02","t":"2026-01-02T03:04:05Z","x":[{"b":[true,"y"]}]})");
  EXPECT_THAT(text_of("local v = toml.decode('a = ') return v"),
              HasSubstr("main.lua:1: toml.decode: toml: line 1"));
  EXPECT_THAT(text_of("local v = toml.decode(('a'):rep(70000)) return v"),
              HasSubstr("more than 65536 bytes"));
}

TEST(PolicyData, WritesToml) {
  EXPECT_EQ(
      text_of("return toml.encode({ z = 1.5, a = 'x', n = { 1, 2 }, t = { b = true }, "
              "l = { { k = 1 }, { k = 2 } } })"),
      R"("a = \"x\"\u000an = [1, 2]\u000az = 1.5\u000a\u000a[[l]]\u000a  k = 1\u000a\u000a[[l]]\u000a  k = 2\u000a\u000a[t]\u000a  b = true\u000a")");
  EXPECT_EQ(text_of("local t = { a = 'x\"\\n', b = { c = { 1, 2 } } } "
                    "return json.encode(toml.decode(toml.encode(t))) == json.encode(t)"),
            "true");
  EXPECT_THAT(text_of("local v = toml.encode('x') return v"), HasSubstr("toml.encode: "));
  EXPECT_THAT(text_of("local v = toml.encode({ { 1 } , a = 1}) return v"),
              HasSubstr("toml.encode: "));
  EXPECT_THAT(text_of("local t = {} t.t = t local v = toml.encode(t) return v"),
              HasSubstr("toml.encode: t: contains itself"));
}

TEST(PolicyData, ReadsAndWritesJsonAndYaml) {
  EXPECT_EQ(text_of(R"(return json.decode('{"b":[1,true,null,"x"],"a":{}}').b[4])"), R"("x")");
  EXPECT_EQ(text_of("return json.encode({ b = { 1, 'x' }, a = true })"),
            R"("{\"a\":true,\"b\":[1,\"x\"]}")");
  EXPECT_EQ(text_of("return yaml.decode('a: yes\\nb: [1, x]\\n')"), R"({"a":true,"b":[1,"x"]})");
  EXPECT_EQ(text_of("return yaml.encode({ b = { 1, 2.5 }, a = 'yes' })"),
            R"("a: \"yes\"\u000ab:\u000a- 1\u000a- 2.5\u000a")");
  EXPECT_THAT(text_of("local v = json.decode('{') return v"),
              HasSubstr("main.lua:1: json.decode: unexpected end of JSON input"));
  EXPECT_THAT(text_of("local v = yaml.decode('a: [') return v"), HasSubstr("yaml.decode: yaml:"));
  EXPECT_THAT(text_of("local t = {} t.t = t local v = json.encode(t) return v"),
              HasSubstr("json.encode: t: contains itself"));
  EXPECT_THAT(text_of("local v = json.encode(ipairs) return v"), HasSubstr("json.encode"));
  EXPECT_THAT(text_of("local v = yaml.encode({ f = function() end }) return v"),
              HasSubstr("only plain data"));
}

std::string json_of(const std::string& source) {
  const evaluated e = evaluate(source);
  return e.answer ? to_json_text(*e.answer) : e.error;
}

TEST(PolicyData, AnEmptyListStaysAListWhereverItGoes) {
  EXPECT_EQ(json_of("return { list(), {}, list({}), list { 1 } }"), "[[],{},[],[1]]");
  EXPECT_EQ(json_of(R"(return { json.decode('{"a":[],"b":{},"c":[[]]}'), json.decode("[]") })"),
            R"([{"a":[],"b":{},"c":[[]]},[]])");
  EXPECT_EQ(json_of(R"(return yaml.decode("rules: []\nempty: {}\n"))"), R"({"empty":{},"rules":[]})");
  EXPECT_EQ(json_of(R"(return toml.decode("a = []\n[b]\n"))"), R"({"a":[],"b":{}})");
  // As it is passed on, copied, filled in, emptied and written.
  EXPECT_EQ(json_of(R"(return copy(json.decode('{"a":[],"b":{}}')))"), R"({"a":[],"b":{}})");
  EXPECT_EQ(json_of(R"(return fill(yaml.decode("a: []\nb: ['{x}']\n"), { x = list() }))"),
            R"({"a":[],"b":[[]]})");
  EXPECT_EQ(json_of("local l = list { 1 } table.remove(l) return { l }"), "[[]]");
  EXPECT_EQ(json_of("local l = list() l[1] = 'x' table.insert(l, 'y') return { l, #l }"),
            R"([["x","y"],2])");
  EXPECT_EQ(text_of(R"(return json.encode(json.decode('{"a":[],"b":{}}')))"),
            R"("{\"a\":[],\"b\":{}}")");
  EXPECT_EQ(text_of("return yaml.encode({ a = list(), b = {} })"), R"("a: []\u000ab: {}\u000a")");
  EXPECT_THAT(json_of("local l = list() l.a = 1 return l"), HasSubstr("mixes list entries"));
  EXPECT_THAT(json_of("local l = list({ a = 1 }) return l"), HasSubstr("the table has names"));
  EXPECT_THAT(json_of("return list(string)"), HasSubstr("metatable of its own"));
  EXPECT_THAT(json_of("return list('x')"), HasSubstr("expected a table of the policy's own"));
  EXPECT_EQ(json_of("return { getmetatable(list()), pcall(setmetatable, list(), {}) }"),
            R"([false,false,"cannot change a protected metatable"])");
}

TEST(PolicyData, KnowsTheNamesOfObjects) {
  EXPECT_EQ(text_of("return k8s.name_problem('a.b-1') == nil"), "true");
  for (const char* wrong : {"", "mySecret", "a_b", "-a", "a..b", "a/b", "\303\244"})
    EXPECT_THAT(text_of("return k8s.name_problem('" + std::string(wrong) + "')"),
                HasSubstr("'" + std::string(wrong) + "' is no name of an object"));
  EXPECT_THAT(text_of("return k8s.name_problem(('\\195\\164'):rep(200) )"), HasSubstr("is no name"));
}

TEST(PolicyData, IsCountedByTheBudget) {
  const evaluated e = evaluate(
      "local t = 'a = \"' .. ('x'):rep(30000) .. '\"' for i = 1, 100 do toml.decode(t) end",
      1'000'000);
  EXPECT_THAT(e.error, HasSubstr("gave up after 1000000 instructions"));
}

TEST(PolicyData, KnowsBase64AndDigests) {
  EXPECT_EQ(text_of("return { base64.encode('hello'), base64.decode('aGVsbG8='), "
                    "base64.decode('!') == nil }"),
            R"(["aGVsbG8=","hello",true])");
  EXPECT_EQ(
      text_of("return { digest.of('') , digest.valid(digest.of('x')), digest.valid('sha256:1') }"),
      R"(["sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",true,false])");
}

TEST(PolicyData, TakesTimesApartInTheirZones) {
  EXPECT_EQ(text_of("local t = time.at(time.parse('2026-07-01T20:30:00Z'), 'Europe/Berlin') return "
                    "{ t.hour, t.offset, t.weekday, t.zone }"),
            R"([22,7200,"Wednesday","CEST"])");
  EXPECT_EQ(
      text_of("return time.at(0)"),
      R"({"day":1,"hour":0,"minute":0,"month":1,"offset":0,"second":0,"weekday":"Thursday","year":1970,"year_day":1,"zone":"UTC"})");
  EXPECT_EQ(text_of("return time.text(time.parse('2026-12-01T12:00:00Z') + 90, 'Asia/Kolkata')"),
            R"("2026-12-01T17:31:30+05:30")");
  EXPECT_EQ(
      text_of(
          "return { time.parse('yesterday') == nil, time.parse('2026-13-01T00:00:00Z') == nil }"),
      "[true,true]");
  EXPECT_THAT(text_of("return time.at(0, '../../etc/passwd')"),
              HasSubstr("no zone '../../etc/passwd'"));
  EXPECT_THAT(text_of("return time.at(0, 'Mars/Olympus')"), HasSubstr("no zone 'Mars/Olympus'"));
  EXPECT_THAT(text_of("return time.at(1e300)"), HasSubstr("no time between the years 1 and 9999"));
}

TEST(PolicyData, FillsATableWithoutValuesBecomingStructure) {
  EXPECT_EQ(text_of("return fill({ n = '{n}', t = 'is {t}', l = { '{m}' } }, { n = 2, t = "
                    "'}: {', m = { a = 1 } })"),
            R"({"l":[{"a":1}],"n":2,"t":"is }: {"})");
  EXPECT_THAT(text_of("return fill({ a = '{b}' }, {})"), HasSubstr("there is no 'b'"));
  EXPECT_THAT(text_of("local t = {} t.t = t return fill(t, {})"), HasSubstr("32 deep"));
  EXPECT_THAT(text_of("local t = {} t.t = t return copy(t)"), HasSubstr("32 deep"));
}

TEST(PolicyData, FillsNamesInATextIn) {
  EXPECT_EQ(
      text_of("return fill('{unit.name} of {n} {json: 1} {}', { unit = { name = 'w1' }, n = 2 })"),
      R"("w1 of 2 {json: 1} {}")");
  EXPECT_THAT(text_of("return fill('{unit.nam}', { unit = {} })"),
              HasSubstr("fill: there is no 'unit.nam' to put in"));
}

}  // namespace
}  // namespace policies
