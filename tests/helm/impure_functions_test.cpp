// Which functions give a template chance, the time or the cluster: what a render made with them is
// never shared between clusters.
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "helm/template/parser.hpp"
#include "reactor/plain/entropy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace helm::impure_functions {
namespace {

struct made {
  std::string text;
  bool is_impure = false;
};

/// The text of a template in one of two worlds, which differ in all that a template is not given.
made run(const std::string& text, const value& data, std::uint64_t world) {
  made out;
  reactor::seeded_entropy chance(world);
  render_runtime runtime;
  runtime.impure = &out.is_impure;
  runtime.random = [&](std::span<unsigned char> bytes) { chance.fill(bytes); };
  runtime.now = [&] {
    return std::chrono::system_clock::time_point(std::chrono::days(10'000 + 400 * world));
  };
  runtime.lookup = [&](const std::string&, const std::string&, const std::string&,
                       const std::string&) {
    return value(value::map_type{{"is", std::to_string(world)}});
  };
  try {
    template_set set;
    for (auto& t :
         parse_template("t", text, [](std::string_view name) { return find_function(name); }))
      set.add(std::move(t));
    executor(set, runtime, {}, missing_keys::zero, false).run(out.text, "t", data);
  } catch (const std::exception& e) {
    out.text = e.what();
  }
  return out;
}

/// The ways to fill one parameter; none of them is impure itself, where there is another.
std::vector<std::string> fillings(param p) {
  const std::vector<std::string> texts{"\"ed25519\"", ".key",    "\"2006-01-02\"",
                                       "\"1h\"",      "\"x:y\"", "\"long\""};
  const std::string noon = "(toDate \"2006-01-02\" \"2020-01-02\")";
  switch (p) {
    case param::string: return texts;
    case param::int_: return {"1", "100", "30", "7"};
    case param::uint32: return {"3"};
    case param::float64: return {"1.5"};
    case param::boolean: return {"true"};
    case param::list: return {"(list)", "(list)", "(list \"a\" \"b\")"};
    case param::map: return {"(dict \"a\" 1)"};
    case param::time: return {noon};
    case param::version: return {"(semver \"1.2.3\")"};
    case param::certificate: return {"(genCAWithKey \"x\" 1 .key)"};
    case param::any:
    case param::reflect: return {"\"text\"", "12", noon, "(list 3 1)", "(dict \"a\" 1)", ".key"};
  }
  return {};
}

std::vector<std::string> calls_of(std::string_view name) {
  constexpr std::size_t ways = 6;
  const function& f = *find_function(name);
  std::vector<std::string> out;
  for (std::size_t shift = 0; shift < ways; ++shift)
    for (std::size_t way = 0; way < ways; ++way) {
      std::string call = "{{ " + std::string(name);
      for (std::size_t i = 0; i < f.count; ++i) {
        const std::vector<std::string> all = fillings(f.params[i]);
        call += " " + all[(way + shift * i) % all.size()];
      }
      call += " }}";
      if (std::ranges::find(out, call) == out.end()) out.push_back(std::move(call));
    }
  return out;
}

TEST(ImpureFunctions, AreTheseAndEachSaysSo) {
  const value data(
      value::map_type{{"key", run("{{ genPrivateKey \"ed25519\" }}", value(), 1).text}});
  std::set<std::string_view> differing, impure;
  for (const std::string_view name : function_names())
    for (const std::string& call : calls_of(name)) {
      const made one = run(call, data, 1), other = run(call, data, 2);
      if (one.is_impure) impure.insert(name);
      if (one.text == other.text) continue;
      EXPECT_TRUE(one.is_impure && other.is_impure) << call << ": " << one.text;
      differing.insert(name);
      break;  // keys take their time
    }
  std::set<std::string_view> all{"ago",
                                 "bcrypt",
                                 "date",
                                 "dateInZone",
                                 "date_in_zone",
                                 "durationRound",
                                 "encryptAES",
                                 "genCA",
                                 "genCAWithKey",
                                 "genPrivateKey",
                                 "genSelfSignedCert",
                                 "genSelfSignedCertWithKey",
                                 "genSignedCert",
                                 "genSignedCertWithKey",
                                 "htmlDate",
                                 "htmlDateInZone",
                                 "htpasswd",
                                 "lookup",
                                 "now",
                                 "randAlpha",
                                 "randAlphaNum",
                                 "randAscii",
                                 "randBytes",
                                 "randInt",
                                 "randNumeric",
                                 "shuffle",
                                 "uuidv4"};
  EXPECT_EQ(differing, all);
  all.insert("getHostByName");  // "" as in Helm, unless it is let to ask
  EXPECT_EQ(impure, all);
}

TEST(ImpureFunctions, WhatTheirArgumentsDecideIsNotImpure) {
  for (const char* text : {"{{ date \"2006\" 0 }}", "{{ htmlDate (toDate \"2006\" \"2020\") }}",
                           "{{ durationRound 90 }}", "{{ encryptAES \"k\" \"\" }}",
                           "{{ derivePassword 1 \"long\" \"a\" \"b\" \"c\" }}"})
    EXPECT_FALSE(run(text, value(), 1).is_impure) << text;
  // In what is included, and in texts that are templates, too.
  for (const char* text :
       {"{{ define \"a\" }}{{ uuidv4 }}{{ end }}{{ include \"a\" . }}", "{{ tpl \"{{ now }}\" . }}",
        "{{ if false }}{{ else }}{{ now }}{{ end }}"})
    EXPECT_TRUE(run(text, value(), 1).is_impure) << text;
  EXPECT_FALSE(run("{{ if false }}{{ now }}{{ end }}", value(), 1).is_impure);
}

}  // namespace
}  // namespace helm::impure_functions
