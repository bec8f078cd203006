// Every function that a template may call, with the largest that the service lets a chart give it.
#include "helm/charts/chart.hpp"
#include "helm/go.hpp"
#include "helm/render/render.hpp"
#include "helm/template/function.hpp"
#include "reactor/plain/memory.hpp"
#include "tests/helm/in_child.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace helm {
namespace {

constexpr std::size_t text_size = 400'000;

std::string of_pieces(std::string_view piece, std::size_t size) {
  std::string out;
  while (out.size() + piece.size() <= size) out += piece;
  return out;
}

/// What charts can have in their values: long texts of several kinds, patterns that make a search
/// go back, lists and maps of many items.
value hostile_values() {
  std::string mixed;
  std::uint32_t state = 1;
  while (mixed.size() < text_size) {
    state = state * 1'664'525 + 1'013'904'223;
    mixed += "ab \n$%{}\"<\xc3\xa9\xe2\x82\xac,.-_A9/"[(state >> 24) % 22];
  }
  value::list_type numbers, texts;
  value::map_type members;
  for (int i = 0; i < 30'000; ++i) numbers.push_back(value::integer(i, type::int_));
  for (int i = 0; i < 8'000; ++i) texts.emplace_back("https://example.com/" + std::to_string(i));
  for (int i = 0; i < 5'000; ++i) members.emplace("key-" + std::to_string(i), value(i));
  value nested(value::map_type{});
  for (int i = 0; i < 1'000; ++i) nested = value(value::map_type{{"a", nested}, {"b", 1}});
  return value(value::map_type{{"same", of_pieces("a", text_size)},
                               {"almost", of_pieces("a", text_size / 2) + "b"},
                               {"lines", of_pieces("- a\n", text_size)},
                               {"open", of_pieces("[", 5'000)},
                               {"digits", of_pieces("9", text_size)},
                               {"formats", of_pieces("%999999d", text_size / 8)},
                               {"mixed", mixed},
                               {"stars", of_pieces("*a", 60) + "b"},
                               {"choices", of_pieces("{a,a,a}", 70)},
                               {"again", "(a|b)*a(a|b){15}|a.*c"},
                               {"wide", "(a{1,500}){1,20}b"},
                               {"dollars", of_pieces("$1${2}$a", text_size)},
                               {"numbers", numbers},
                               {"texts", texts},
                               {"members", members},
                               {"nested", nested}});
}

const std::vector<std::string> texts{"same",  "almost", "lines",   "open",  "digits", "formats",
                                     "mixed", "stars",  "choices", "again", "wide",   "dollars"};

/// The ways to fill one parameter.
std::vector<std::string> fillings(param p) {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<std::string>& names) {
    for (const auto& n : names) out.push_back("$v." + n);
  };
  switch (p) {
    case param::string: add(texts); break;
    case param::int_: return {"1", "1000000000", "-1"};
    case param::uint32: return {"65535"};
    case param::float64: return {"1e308"};
    case param::boolean: return {"true"};
    case param::list: return {"$v.numbers", "$v.texts"};
    case param::map: return {"$v.members", "$v.nested"};
    case param::time: return {"now"};
    case param::version: return {"(semver \"1.2.3\")"};
    case param::certificate: return {"(genCA \"x\" 1)"};
    case param::any:
    case param::reflect:
      add({"same", "mixed", "formats"});
      add({"numbers", "texts", "members", "nested"});
      break;
  }
  return out;
}

/// Calls of `name` in which each parameter is filled in each way once, the others in step, and the
/// last one of a variadic function many times.
std::vector<std::string> calls_of(std::string_view name) {
  const function& f = *find_function(name);
  std::size_t ways = 1;
  for (std::size_t i = 0; i < f.count; ++i) ways = std::max(ways, fillings(f.params[i]).size());
  std::vector<std::string> out;
  for (std::size_t shift = 0; shift < (f.count > 1 ? 2u : 1u); ++shift)
    for (std::size_t way = 0; way < ways; ++way) {
      std::string call(name);
      for (std::size_t i = 0; i < f.count; ++i) {
        const auto all = fillings(f.params[i]);
        const std::string& one = all[(way + shift * i * 5) % all.size()];
        const std::size_t times = f.variadic && i + 1u == f.count ? 40 : 1;
        for (std::size_t n = 0; n < times; ++n) call += " " + one;
      }
      out.push_back(std::move(call));
    }
  return out;
}

/// Steps of a render where only the end is asked for. What counts its steps ends so much sooner;
/// what does not takes as long as ever, and that many in one process pass its limit of processor
/// time.
constexpr std::uint64_t few_steps = service_chart_limits.steps / 32;

/// What a chart with this action in a template gives in the service: "" or why not.
std::string rendered(const std::string& action, const value& values,
                     std::uint64_t steps = service_chart_limits.steps) {
  std::vector<std::string> warnings;
  std::vector<chart_file> files{{"Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"},
                                {"templates/x.yaml", "{{ $v := .Values }}{{ " + action + " }}"},
                                {std::string(200, 'a'), of_pieces("a\n", 100'000)}};
  const auto c = load_files(std::move(files), warnings);
  const auto parsed = parsed_chart::parse(*c);
  if (!parsed) return parsed.error().text;
  render_options options;
  options.runtime.now = [] { return std::chrono::system_clock::time_point(); };
  options.limits.walk_steps = steps;
  options.limits.memory_bytes = service_chart_limits.memory_bytes;
  options.limits.output_bytes = 2 * service_chart_limits.memory_bytes;
  const auto out = parsed->render(values, {}, default_capabilities(), options);
  return out ? "" : out.error().text;
}

/// Renders all of them in a process with the service's memory. "" when each has come to an end.
std::string end_of(const std::vector<std::string>& actions) {
  return testing::in_child([&]() -> std::string {
    reactor::end_when_memory_is_lost();
    const reactor::memory_may_be_refused here;
    const value values = hostile_values();
    for (const auto& a : actions) (void)rendered(a, values, few_steps);
    return {};
  });
}

/// A share of the functions: all of them take two minutes, and the shares run beside each other.
class EveryHostileFunction : public ::testing::TestWithParam<std::size_t> {
public:
  static constexpr std::size_t shares = 6;
  static std::vector<std::string_view> functions() {
    std::vector<std::string_view> out;
    std::size_t i = 0;
    for (const auto name : function_names())
      if (i++ % shares == GetParam()) out.push_back(name);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Shares, EveryHostileFunction,
                         ::testing::Range(std::size_t{0}, EveryHostileFunction::shares));

TEST_P(EveryHostileFunction, EndsInTheServicesMemoryHoweverMuchItIsGiven) {
  for (const auto name : functions()) EXPECT_EQ(end_of(calls_of(name)), "") << name;
}

TEST_P(EveryHostileFunction, EndsWithWhatAnotherMadeAsLargeAsItMay) {
  const std::vector<std::string> makers{
      "(repeat 400000 \"ab\")",
      "(until 100000)",
      "(splitList \"\" $v.mixed)",
      "(toYaml $v.members)",
      "(regexReplaceAll \"(a)\" $v.mixed \"$1$1$1\")",
      "(fromYamlArray $v.lines)",
      "(dict \"a\" $v.members \"b\" $v.nested \"c\" $v.texts)",
      "(list $v.same $v.mixed $v.numbers)",
      "(randAlphaNum 20000)",
      "(b64enc $v.mixed)",
  };
  for (const auto name : functions()) {
    const function& f = *find_function(name);
    std::vector<std::string> actions;
    // Each maker in one place, each place for some makers: all of them everywhere take minutes.
    std::size_t at = 0;
    for (const auto& made : makers) {
      std::string call(name);
      for (std::size_t i = 0; i < f.count; ++i)
        call += " " + (i == at ? made : fillings(f.params[i]).front());
      actions.push_back(std::move(call));
      at = f.count ? (at + 1) % f.count : 0;
    }
    EXPECT_EQ(end_of(actions), "") << name;
  }
}

/// The call of `name` that makes the most with a few of the steps, so that most are left for what
/// follows.
std::string largest_call_of(std::string_view name, const value& values) {
  std::string out;
  std::size_t most = 0;
  for (const std::string& call : calls_of(name)) {
    const std::string said =
        rendered("fail (print (len (print (" + call + "))))", values, few_steps / 8);
    const auto at = said.rfind("fail: ");
    const std::size_t made =
        at == said.npos ? 0 : std::strtoull(said.c_str() + at + 6, nullptr, 10);
    if (made <= most) continue;
    most = made;
    out = "(" + call + ")";
  }
  return out;
}

/// Functions in pairs: what one made as large as it may be goes into each place of the other. Each
/// has some partners; all of them, which takes an hour, with WINDLASS_ALL_PAIRS=1.
TEST_P(EveryHostileFunction, EndsWithWhatItsPartnersMade) {
  const bool all = std::getenv("WINDLASS_ALL_PAIRS") != nullptr;
  const std::vector<std::string_view> names = function_names();
  const value values = hostile_values();
  std::map<std::size_t, std::string> made;  // of the partners that this share has
  const auto made_by = [&](std::size_t partner) -> const std::string& {
    const auto [at, is_new] = made.try_emplace(partner);
    const reactor::memory_may_be_refused here;
    if (is_new) at->second = largest_call_of(names[partner], values);
    return at->second;
  };
  const std::size_t partners = all ? names.size() : 2;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i % shares != GetParam()) continue;
    const function& f = *find_function(names[i]);
    std::vector<std::string> actions;
    for (std::size_t n = 1; n <= partners; ++n) {
      // Steps that share no factor with the count of functions reach each of them.
      const std::string& by = made_by((i + n * 37) % names.size());
      for (std::size_t at = 0; at < f.count && !by.empty(); ++at) {
        std::string call(names[i]);
        for (std::size_t j = 0; j < f.count; ++j)
          call += " " + (j == at ? by : fillings(f.params[j]).front());
        actions.push_back(std::move(call));
      }
    }
    constexpr std::size_t at_once = 40;
    for (std::size_t from = 0; from < actions.size(); from += at_once) {
      const auto first = actions.begin() + static_cast<std::ptrdiff_t>(from);
      const auto last =
          first + static_cast<std::ptrdiff_t>(std::min(at_once, actions.size() - from));
      EXPECT_EQ(end_of({first, last}), "") << names[i];
    }
  }
}

TEST(HostileFunctions, MethodsOfFilesAndValuesEndToo) {
  EXPECT_EQ(end_of({".Files.Glob $v.stars", ".Files.Glob $v.choices", ".Files.Glob $v.same",
                    ".Files.Glob \"*a*a*a*a*a*a*a*a*a*a*a*a*b\"", ".Files.Get $v.same",
                    ".Files.Lines \"" + std::string(200, 'a') + "\"", ".Files.AsConfig",
                    ".Files.AsSecrets", "(.Files.Glob \"**\").AsConfig | fromYaml",
                    ".Values.Table $v.mixed", ".Values.PathValue $v.mixed", ".Values.YAML",
                    ".Capabilities.APIVersions.Has $v.same"}),
            "");
}

TEST(HostileFunctions, WhatGrowsWithTheSquareIsRefusedByItsSteps) {
  const value values = hostile_values();
  const std::string walks = "walk over too many values";
  for (const char* action : {".Files.Glob \"*a*a*a*a*a*a*a*a*a*a*a*a*b\"", "uniq $v.numbers",
                             "regexFindAll \"a.*b|a\" $v.same -1"})
    EXPECT_NE(rendered(action, deep_copy(values)).find(walks), std::string::npos)
        << action << ": " << rendered(action, deep_copy(values));
  std::string many = "mulf";
  for (int i = 0; i < 8'000; ++i) many += " 1.2345678901234567";
  EXPECT_NE(rendered(many, deep_copy(values)).find(walks), std::string::npos);
  // What a chart really asks for is done.
  for (const char* action :
       {"wrapWith 80 \"-\" $v.mixed | len", "wrap 1 $v.same | len", "trimAll $v.mixed $v.mixed",
        "contains $v.almost $v.same", "replace $v.almost \"x\" $v.same | len",
        "regexReplaceAll \"[a-c]+([0-9])\" (trunc 100000 $v.mixed) \"${1}\" | len",
        "range until 2000 }}{{ . }}{{ end",
        "$l := list }}{{ range until 3000 }}{{ $l = append $l . }}{{ end",
        "mulf 1.5 2.5 3.5 | print"})
    EXPECT_EQ(rendered(action, deep_copy(values)), "") << action;
}

}  // namespace
}  // namespace helm
