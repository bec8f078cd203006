#include "service/overview/overview.hpp"

#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace cli {
namespace {

// Everything a terminal must not be given, once: a title, a carriage return, C1 as UTF-8 and raw, a
// turned text, a hidden character, a forged line and marks without end.
std::string hostile(const std::string& who) {
  std::string text = who +
                     "\x1b]0;owned\x07\r\x1b[2J\u009b31m\x9b"
                     "32m\u202egnp\u2066\u200b\ufeff\u2028\nprod  Live  all is well\x7f";
  for (int i = 0; i < 100; ++i) text += "\u0301";
  return text;
}

/// A fleet whose every text a cluster or a policy chose.
fleet_overview hostile_fleet() {
  units::plan_row r;
  r.name = hostile("row");
  r.target = hostile("target");
  units::unit u;
  u.name = "n1" + hostile("unit");
  u.state = hostile("state");
  u.is = units::standing::trouble;
  u.message = hostile("message");
  u.trouble = hostile("trouble");
  u.details = {
      {.key = "bootedDigest", .value = hostile("digest"), .column = "BOOTED", .label = "booted"},
      {.key = "desiredImage", .value = hostile("desired"), .label = "desired"}};
  r.units = {u};
  u.name = hostile("other");
  u.trouble.clear();
  r.units.push_back(u);
  r.holds = {{u.name, hostile("policy"), hostile("sentence"), hostile("released")}};
  r.problems = {{"", hostile("condition"), hostile("status"), hostile("reason"), hostile("why")},
                {u.name, hostile("condition"), hostile("status"), hostile("reason"), "", "since"}};
  r.forecast = r.holds;
  r.start = {r.units.front().name};
  r.actions = {{hostile("action"), u.name}};
  fleet_overview f;
  const units::words says{"pool", "pools", "node", "nodes"};
  f.apis = {{"bootc", {says, 2, 0, 1, 1}}};
  f.clusters.push_back({hostile("cluster"),
                        hostile("server"),
                        hostile("Live"),
                        hostile("error"),
                        {{"bootc", says, hostile("Live"), hostile("error"), {std::move(r)}}}});
  f.clusters.push_back({hostile("empty"),
                        hostile("server"),
                        "Invalid",
                        hostile("error"),
                        {{"bootc", says, "Invalid", hostile("error"), {}}}});
  return f;
}

/// The lines that people see; a colour of ours is taken out first.
std::string without_colours(std::string text) {
  for (const char* code : {"\033[32m", "\033[33m", "\033[31m", "\033[2m", "\033[0m"})
    for (std::size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string_view(code).size());
  return text;
}

std::string unit_of(const fleet_overview& f, std::size_t i) {
  return f.clusters[0].apis[0].rows[0].units[i].name;
}

TEST(Overview, ARowSaysWhichTagItFollowsWhenThatIsAskedAgainAndWhatIsOffered) {
  fleet_overview f;
  units::plan_row r;
  r.name = "workers";
  r.target = "sha256:" + std::string(64, 'a');
  r.offered = "sha256:" + std::string(64, 'b');
  units::unit u;
  u.name = "n1";
  u.details = {{.key = "follows",
                .value = "quay.io/os/node:stable, asked again at 2026-11-21T12:05:00Z",
                .label = "follows"}};
  r.units = {u};
  const units::words says{"pool", "pools", "node", "nodes"};
  f.apis = {{"bootc", {says, 1, 1, 0, 0}}};
  f.clusters.push_back({"blue", "server", "Live", "", {{"bootc", says, "Live", "", {r}}}});
  const std::string text = status_text(f, extent::wide, colours::none, 200).text();
  EXPECT_NE(text.find("follows quay.io/os/node:stable, asked again at 2026-11-21T12:05:00Z, "
                      "offered sha256:bbbbbbbbbbbb"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sha256:aaaaaaaaaaaa"), std::string::npos) << text;
  const std::string narrow = status_text(f, extent::usual, colours::none, 80).text();
  EXPECT_EQ(narrow.find("follows"), std::string::npos) << "eighty columns have no room\n" << narrow;
  EXPECT_NE(narrow.find("offered"), std::string::npos) << narrow;
}

TEST(Overview, NothingAClusterSaysReachesATerminalRaw) {
  const fleet_overview f = hostile_fleet();
  for (const extent wide : {extent::usual, extent::wide}) {
    for (const colours lively : {colours::none, colours::shown}) {
      for (const page& shown :
           {status_text(f, wide, lively), plan_text(f, wide, lively),
            explain_text(f, unit_of(f, 0), lively), explain_text(f, unit_of(f, 1), lively)}) {
        const std::string text = without_colours(shown.text());
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(reactor::printable_lines(text), text);
        EXPECT_EQ(text.find("\nprod"), std::string::npos) << "a forged line";
        EXPECT_EQ(text.find('\t'), std::string::npos);
      }
    }
  }
}

TEST(Overview, JsonAndYamlKeepEveryTextAndShowNothingRaw) {
  const fleet_overview f = hostile_fleet();
  for (const boost::json::value& v :
       {boost::json::value(status_json(f)), boost::json::value(plan_json(f)),
        boost::json::value(explain_json(f, unit_of(f, 0)))}) {
    for (const auto format : {output_format::json, output_format::yaml}) {
      const std::string text = machine_text(v, format);
      EXPECT_EQ(reactor::printable_lines(text), text);
    }
  }
  EXPECT_NE(machine_text(status_json(f), output_format::json).find("unit\\u001b]0;owned\\u0007"),
            std::string::npos);
}

}  // namespace
}  // namespace cli
