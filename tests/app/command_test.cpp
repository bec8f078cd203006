// A toy command and a toy API, each plugged in by one line, and what both get of a command line, an
// environment and a file.
#include "app/command.hpp"

#include "app/api/api.hpp"
#include "app/api/setup.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct toy_options {
  sourced<std::string> colour{"red"};
  sourced<std::vector<std::string>> parts;
  sourced<bool> loud;
  std::string name;
  std::vector<std::string> apis;
  bool named = false;
};

int played = 0;

void declare_toy(flags& f, toy_options& to) {
  f.value("NAME", to.name, "of the toy").required();
  f.value("--colour", to.colour, "of the toy").variables({"TOY_COLOUR", "COLOUR"});
  f.value("--part", to.parts, "of the toy; given again, one more").repeated();
  f.on("--loud", to.loud, "with a whistle").switched_on_by("TOY_LOUD");
  f.value("--apis", to.apis, "which APIs").separated(',').each([&to] { to.named = true; });
  f.choice_of_apis(to.apis, to.named);
  for (const units::api& a : f.apis())
    f.section("Settings of " + a.name), (void)(a.settings ? a.settings(f) : units::api_setup());
  f.config();
}

program toys() {
  return {
      "windlass",
      "Toys.",
      "",
      {{"toy", "Toys alone"},
       command_of<toy_options>("toy play", "Play with it.", declare_toy,
                               [](const toy_options&, const invocation&) { return ++played; })}};
}

/// An API whose one flag is of no use unless --apis names it.
std::vector<units::api> toy_api() {
  std::vector<units::api> all(1);
  all.front().name = "toys";
  all.front().settings = [](flags& f) -> units::api_setup {
    const auto speed = f.shared<sourced<std::string>>(
        [&](sourced<std::string>& s) { f.value("--speed", s, "of toys").of({"toys"}); });
    return [speed](units::api& to, const units::process_facts&) -> reactor::result<void> {
      to.watches = speed->value;
      return {};
    };
  };
  return all;
}

parse_outcome said(const std::vector<std::string>& words,
                   const std::map<std::string, std::string>& variables = {}) {
  static const std::vector<units::api> apis = toy_api();
  return parse(
      toys(), words,
      [&variables](std::string_view name) {
        const auto found = variables.find(std::string(name));
        return found == variables.end() ? std::string() : found->second;
      },
      &apis);
}

TEST(Command, AToyIsPluggedInByOneLine) {
  const environment_reader nothing = [](std::string_view) { return std::string(); };
  const std::vector<units::api> none;
  played = 6;
  EXPECT_EQ(run(toys(), {"toy", "play", "bear"}, nothing, &none), 7);
  const parse_outcome help = said({"toy", "play", "--help"});
  EXPECT_EQ(help.exit_code, success);
  EXPECT_THAT(help.out, HasSubstr("--colour"));
  EXPECT_THAT(help.out, testing::Not(HasSubstr("--speed"))) << "of an API";
  EXPECT_THAT(said({"toy", "play", "--help-all"}).out, HasSubstr("--speed"));
  std::vector<std::string> names;
  for (const completed_command& c : described(toys(), &none)) names.push_back(c.name);
  EXPECT_THAT(names, ElementsAre("", "toy", "toy play"));
}

TEST(Command, OfAFlagThatIsGivenAgainTheLastValueCountsUnlessEachDoes) {
  struct again {
    std::string text = "a";
    std::size_t number = 1;
    std::optional<std::size_t> maybe;
    bool on = false;
    output_choice output;
    reactor::nanoseconds life{};
    std::vector<std::string> each, read, names;
  } got;
  const program all{"windlass",
                    "",
                    "",
                    {command_of<again>(
                        "again", "",
                        [](flags& f, again& to) {
                          f.value("NAME", to.names, "").required();
                          f.value("--text", to.text, "");
                          f.value("--number", to.number, "");
                          f.value("--maybe", to.maybe, "");
                          f.on("--on", to.on, "");
                          f.output(to.output);
                          f.seconds("--life", to.life, "");
                          f.value("--each", to.each, "").repeated();
                          f.read(
                               "--read",
                               [&to](const std::string& t) {
                                 to.read.push_back(t);
                                 return std::string();
                               },
                               "")
                              .repeated();
                        },
                        [&got](const again& said, const invocation&) {
                          got = said;
                          return success;
                        })}};
  const environment_reader nothing = [](std::string_view) { return std::string(); };
  const std::vector<units::api> none;
  const std::vector<std::string> words{
      "again",     "--text",    "b",        "--text",   "c",        "--number=2", "--number=3",
      "--maybe=4", "--maybe=5", "--on",     "--on",     "-o",       "yaml",       "-o",
      "json",      "--life=1",  "--life=2", "--each=d", "--each=e", "--read",     "f",
      "--read",    "g",         "--output", "json",     "h"};
  ASSERT_EQ(run(all, words, nothing, &none), success);
  EXPECT_EQ(got.text, "c");
  EXPECT_EQ(got.number, 3u);
  EXPECT_EQ(got.maybe, 5u);
  EXPECT_TRUE(got.on);
  EXPECT_EQ(got.output.format, output_format::json);
  EXPECT_EQ(got.life, std::chrono::seconds(2));
  EXPECT_THAT(got.each, ElementsAre("d", "e"));
  EXPECT_THAT(got.read, ElementsAre("f", "g"));
  EXPECT_THAT(got.names, ElementsAre("h"));
}

TEST(Command, AValueKeepsItsOrigin) {
  const reactor::temporary_folder dir;
  const std::string file = dir.write("s.yaml", "colour: green\npart: [\"a,b\", c]\nloud: false\n");
  struct row {
    std::vector<std::string> words;
    std::map<std::string, std::string> variables;
    std::string colour;
  };
  const std::string from_file = "green (file " + file + ")";
  const row rows[] = {
      {{}, {}, "red (default)"},
      {{"--config", file}, {}, from_file},
      {{"--config", file, "--colour", "blue"}, {}, "blue (flag)"},
      {{"--colour", "blue"}, {{"COLOUR", "black"}}, "black (env COLOUR)"},
      {{"--colour", "blue"}, {{"COLOUR", "black"}, {"TOY_COLOUR", "x"}}, "x (env TOY_COLOUR)"},
  };
  for (const row& r : rows) {
    std::vector<std::string> words = {"toy", "play", "bear"};
    words.insert(words.end(), r.words.begin(), r.words.end());
    const parse_outcome o = said(words, r.variables);
    ASSERT_TRUE(o) << o.err;
    const auto& colour = o.options<toy_options>()->colour;
    EXPECT_EQ(colour.value + " (" + colour.origin + ")", r.colour);
  }
  const parse_outcome o = said({"toy", "play", "bear", "--config", file});
  EXPECT_THAT(o.options<toy_options>()->parts.value, ElementsAre("a,b", "c")) << "no comma splits";
  EXPECT_TRUE(said({"toy", "play", "x"}, {{"TOY_LOUD", "yes"}}).options<toy_options>()->loud.value);
  EXPECT_FALSE(said({"toy", "play", "x"}, {{"TOY_LOUD", "no"}}).options<toy_options>()->loud.value);
}

TEST(Command, AFlagOfAnApiThatDoesNotRunIsWrongUsage) {
  const parse_outcome idle = said({"toy", "play", "bear", "--speed", "9"});
  EXPECT_EQ(idle.exit_code, wrong_usage);
  EXPECT_EQ(idle.err,
            "windlass: --speed is a setting of toys, and --apis does not name it: add --apis "
            "toys\n");
  EXPECT_TRUE(said({"toy", "play", "bear", "--speed", "9", "--apis", "toys"}));
}

TEST(Command, AWordThatIsNotKnownIsNamedAtEachLevel) {
  for (const auto& [words, why] : std::map<std::vector<std::string>, std::string>{
           {{"--nonsense"},
            "windlass: The following argument was not expected: --nonsense; the program itself "
            "has --help, --help-all; `windlass --help` shows what it takes\n"},
           {{"--nonsense", "toy", "play", "bear"}, "not expected: --nonsense;"},
           {{"toy", "--nonsense"},
            "windlass toy: The following argument was not expected: --nonsense; `windlass toy "
            "--help` shows what it takes\n"},
           {{"toy", "play", "bear", "--nonsense"}, "not expected: --nonsense;"},
           {{"toy", "play", "bear", "--colur", "red"}, "did you mean \"--colour\"?"},
           {{"tyo"}, "there is no command \"tyo\"; did you mean \"toy\"?"}}) {
    const parse_outcome o = said(words);
    EXPECT_FALSE(o);
    EXPECT_EQ(o.exit_code, wrong_usage);
    EXPECT_THAT(o.err, HasSubstr(why));
  }
}

TEST(Command, MayHaveFlagsAndCommandsBelowIt) {
  struct check_options {
    std::string output, file;
  };
  const auto declare = [](flags& f, check_options& to) {
    f.value("-o,--output", to.output, "how");
    f.value("--file", to.file, "which");
  };
  const auto ends_with = [](int code) {
    return [code](const check_options&, const invocation&) { return code; };
  };
  const program checks{
      "windlass",
      "Checks.",
      "",
      {command_of<check_options>("check", "Look.", declare, ends_with(3)),
       command_of<check_options>("check more", "Look on.", declare, ends_with(4))}};
  const environment_reader nothing = [](std::string_view) { return std::string(); };
  const std::vector<units::api> none;
  const auto ran = [&](const std::vector<std::string>& words) {
    return run(checks, words, nothing, &none);
  };
  EXPECT_EQ(ran({"check"}), 3) << "it is no question for help";
  EXPECT_EQ(ran({"check", "-ojson"}), 3);
  EXPECT_EQ(ran({"check", "--file", "more"}), 3) << "the value of a flag is no command";
  EXPECT_EQ(ran({"check", "more"}), 4);
  EXPECT_EQ(ran({"check", "more", "--file", "f"}), 4);
  // The command below would not have it.
  const parse_outcome early = parse(checks, {"check", "--file", "f", "more"}, nothing, &none);
  EXPECT_EQ(early.exit_code, wrong_usage);
  EXPECT_THAT(early.err, HasSubstr("--file is a flag of `windlass check`"));
  EXPECT_EQ(ran({"check", "mroe"}), wrong_usage);
  EXPECT_EQ(ran({"check", "--fiel", "f"}), wrong_usage);
  const std::string help = parse(checks, {"check", "--help"}, nothing, &none).out;
  EXPECT_THAT(help, HasSubstr("windlass check [COMMAND] [flags]"));
  EXPECT_THAT(help, HasSubstr("more"));
  EXPECT_THAT(help, HasSubstr("--file"));
}

}  // namespace
}  // namespace app
