// The parts of the page that decide: who may look, what readers are sent, what a plot keeps, what
// its files may hold.
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "service/page/access.hpp"
#include "service/page/board.hpp"
#include "service/page/files.hpp"
#include "service/page/history.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace web;
namespace json = boost::json;

TEST(Hosts, AreAddressesLocalhostAndTheNamesThatWereGiven) {
  const std::vector<std::string> names = {"windlass.example.com"};
  for (const char* ours :
       {"127.0.0.1", "127.0.0.1:8090", "10.1.2.3:80", "localhost", "LocalHost:9000", "[::1]:8090",
        "[fe80::1]", "windlass.example.com", "Windlass.Example.com:443"})
    EXPECT_TRUE(is_our_host(ours, names)) << ours;
  for (const char* theirs :
       {"", ":8090", "evil.example.com", "evil.example.com:8090", "localhost.evil.example.com",
        "127.0.0.1.evil.example.com", "xwindlass.example.com", "[::1", "[]", "[evil]", "1evil",
        "windlass.example.com.evil", "windlass.example.com@evil"})
    EXPECT_FALSE(is_our_host(theirs, names)) << theirs;
}

TEST(Origins, AreOursWhenTheyAreTheHost) {
  EXPECT_TRUE(is_our_origin("", "localhost:8090"));
  EXPECT_TRUE(is_our_origin("http://localhost:8090", "localhost:8090"));
  EXPECT_TRUE(is_our_origin("https://localhost:8090", "localhost:8090"));
  for (const char* theirs : {"null", "http://localhost", "http://evil",
                             "http://localhost:8090.evil", "file://localhost:8090"})
    EXPECT_FALSE(is_our_origin(theirs, "localhost:8090")) << theirs;
}

TEST(Tokens, AreReadWithoutTheBlanksAroundThem) {
  const auto read = [](const char* text) { return read_token(reactor::secret(std::string(text))); };
  EXPECT_EQ(read("  0123456789abcdef\r\n")->reveal(), "0123456789abcdef");
  for (const char* bad :
       {"", "\n", "too short", "0123456789 abcdef", "0123456789abcdef\n0123456789",
        "0123456789abcdef\x01", "0123456789abcd\xc3\xa9"}) {
    const auto refused = read(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().message().find("0123"), std::string::npos) << "it is not quoted";
  }
}

struct door {
  reactor::loop l{reactor::loop::mode::simulated, 3};
  doorkeeper keeper{l.random(), reactor::secret(std::string("correct-horse-battery"))};
  std::string log_in(transport by = transport::plain) {
    const reactor::secret token(std::string("correct-horse-battery"));
    return keeper.log_in(token, by, l.now()).value_or("");
  }
  static std::string cookie_of(const std::string& set) { return set.substr(0, set.find(';')); }
  bool lets_in(const std::string& cookies, reactor::nanoseconds later = {}) {
    return keeper.lets_in("", cookies, l.now() + later).has_value();
  }
};

TEST(Door, OpensForTheTokenAsABearerAndForNoOther) {
  door d;
  EXPECT_TRUE(d.keeper.lets_in("Bearer correct-horse-battery", "", d.l.now()));
  EXPECT_TRUE(d.keeper.lets_in("bearer correct-horse-battery", "", d.l.now()));
  for (const char* other : {"", "Bearer ", "Bearer correct-horse-batter", "correct-horse-battery",
                            "Bearer correct-horse-battery2", "Basic correct-horse-battery"})
    EXPECT_FALSE(d.keeper.lets_in(other, "", d.l.now())) << other;
}

TEST(Door, GivesACookieThatScriptsAndOtherSitesDoNotSee) {
  door d;
  const std::string set = d.log_in();
  EXPECT_NE(set.find("; HttpOnly"), std::string::npos);
  EXPECT_NE(set.find("; SameSite=Strict"), std::string::npos);
  EXPECT_EQ(set.find("; Secure"), std::string::npos);
  EXPECT_NE(d.log_in(transport::tls).find("; Secure"), std::string::npos);
  EXPECT_EQ(set.find("horse"), std::string::npos) << "the token itself stays here";
  const std::string cookie = door::cookie_of(set);
  EXPECT_TRUE(d.lets_in(cookie));
  EXPECT_TRUE(d.lets_in("other=1; " + cookie + "; more=2"));
  EXPECT_FALSE(d.lets_in("x" + cookie));
  EXPECT_FALSE(d.lets_in(cookie + "0"));
  EXPECT_FALSE(d.lets_in("windlass-ui="));
}

TEST(Door, ForgetsSessionsWhenTheyAreOldManyEndedOrOfAnotherToken) {
  door d;
  const std::string first = door::cookie_of(d.log_in());
  EXPECT_FALSE(d.lets_in(first, doorkeeper::session_lasts));
  EXPECT_EQ(d.keeper.sessions(), 0u);
  const std::string second = door::cookie_of(d.log_in());
  for (std::size_t i = 0; i < doorkeeper::most_sessions; ++i) (void)d.log_in();
  EXPECT_FALSE(d.lets_in(second));
  EXPECT_EQ(d.keeper.sessions(), doorkeeper::most_sessions);
  const std::string third = door::cookie_of(d.log_in());
  EXPECT_NE(d.keeper.log_out(third).find("Max-Age=0"), std::string::npos);
  EXPECT_FALSE(d.lets_in(third));
  const std::string fourth = door::cookie_of(d.log_in());
  d.keeper.change_token(reactor::secret(std::string("correct-horse-battery")));
  EXPECT_TRUE(d.lets_in(fourth)) << "the same token";
  d.keeper.change_token(reactor::secret(std::string("another-horse-battery")));
  EXPECT_FALSE(d.lets_in(fourth));
}

TEST(Door, HoldsWhatItAllowedAsLongAsItWouldAllowItAgain) {
  constexpr const char* shown = "Bearer correct-horse-battery";
  const reactor::secret other(std::string("another-horse-battery"));
  struct row {
    std::string what;
    std::function<void(door&, const std::string& cookie)> happens;
    bool token_holds, session_holds;
    reactor::nanoseconds later{};
  };
  const row rows[] = {
      {"nothing", [](door&, const std::string&) {}, true, true},
      {"the same token",
       [](door& d, const std::string&) {
         d.keeper.change_token(reactor::secret(std::string("correct-horse-battery")));
       },
       true, true},
      {"another token", [&](door& d, const std::string&) { d.keeper.change_token(other); }, false,
       false},
      {"the token comes back",
       [&](door& d, const std::string&) {
         d.keeper.change_token(other);
         d.keeper.change_token(reactor::secret(std::string("correct-horse-battery")));
       },
       false, false},
      {"a logout", [](door& d, const std::string& cookie) { (void)d.keeper.log_out(cookie); }, true,
       false},
      {"as many sessions as may be",
       [](door& d, const std::string&) {
         for (std::size_t i = 0; i < doorkeeper::most_sessions; ++i) (void)d.log_in();
       },
       true, false},
      {"twelve hours", [](door&, const std::string&) {}, true, false, doorkeeper::session_lasts}};
  for (const row& r : rows) {
    door d;
    const std::string cookie = door::cookie_of(d.log_in());
    const auto by_token = d.keeper.lets_in(shown, "", d.l.now());
    const auto by_session = d.keeper.lets_in("", cookie, d.l.now());
    ASSERT_TRUE(by_token && by_session) << r.what;
    EXPECT_EQ(by_session->until, d.l.now() + doorkeeper::session_lasts);
    r.happens(d, cookie);
    EXPECT_EQ(d.keeper.holds(*by_token, d.l.now() + r.later), r.token_holds) << r.what;
    EXPECT_EQ(d.keeper.holds(*by_session, d.l.now() + r.later), r.session_holds) << r.what;
  }
}

TEST(Door, KnowsAWrongTokenFromNone) {
  door d;
  EXPECT_TRUE(d.keeper.is_wrong_token("Bearer another-horse-battery"));
  for (const char* none : {"", "Bearer ", "Bearer correct-horse-battery", "Basic abc"})
    EXPECT_FALSE(d.keeper.is_wrong_token(none)) << none;
}

/// What a reader knows that follows a board.
struct reader {
  const board& of;
  std::uint64_t cursor = 0;
  std::map<std::string, std::string> known = {};
  std::size_t told = 0, largest = 0;
  void read() {
    while (const auto piece = of.next(cursor)) {
      const json::value all = json::parse("{" + piece->text + "}");
      for (const auto& [key, value] : all.at("set").as_object()) {
        known[std::string(key)] = json::serialize(value);
        ++told;
      }
      for (const json::value& key : all.at("gone").as_array())
        known.erase(std::string(key.as_string()));
      largest = std::max(largest, piece->text.size());
      cursor = piece->cursor;
      if (!piece->more) break;
    }
  }
};

TEST(Board, TellsEachKeyOnceHoweverOftenItChanged) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  board b(l);
  for (int i = 0; i < 100; ++i) b.put("a", std::to_string(i));
  b.put("b", "\"x\"");
  reader r{b};
  r.read();
  EXPECT_EQ(r.told, 2u);
  EXPECT_EQ(r.known["a"], "99");
  EXPECT_FALSE(b.put("b", "\"x\"")) << "nothing changed";
  EXPECT_FALSE(b.next(r.cursor));
  b.erase("a");
  b.erase("never there");
  r.read();
  EXPECT_EQ(r.known, (std::map<std::string, std::string>{{"b", "\"x\""}}));
}

TEST(Board, IsToldInPiecesAndChangesMeanwhileAreNotLost) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  board b(l);
  for (int i = 0; i < 2'000; ++i)
    b.put("c" + std::to_string(i), "\"" + std::string(300, 'x') + "\"");
  reader r{b};
  const auto first = b.next(0);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->more);
  r.cursor = first->cursor;
  r.known["c0"] = "old";
  b.put("c0", "7");
  b.erase("c1999");
  r.read();
  EXPECT_EQ(r.known["c0"], "7");
  EXPECT_FALSE(r.known.contains("c1999"));
  EXPECT_LE(r.largest, board::piece_bytes + 400);
}

TEST(Board, KnowsWhereAReaderWasAndWhenThatIsTooLongAgo) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  board b(l), other(l);
  b.put("a", "1");
  b.put("b", "1");
  const std::string id = b.id_of(1);
  EXPECT_EQ(b.cursor_of(id), 1u);
  for (const std::string& bad :
       {std::string(), std::string("-"), std::string("1"), other.id_of(1), b.id_of(3), id + "x",
        id.substr(0, id.size() - 1), std::string(100'000, '9')})
    EXPECT_FALSE(b.cursor_of(bad)) << bad.substr(0, 50);
  for (std::size_t i = 0; i < board::most_gone + 10; ++i) {
    b.put("k" + std::to_string(i), "1");
    b.erase("k" + std::to_string(i));
  }
  EXPECT_FALSE(b.cursor_of(id)) << "not all that is gone since is remembered";
  EXPECT_TRUE(b.cursor_of(b.id_of(b.revision())));
  EXPECT_EQ(b.size(), 2u);
}

progress_point at(int second, std::uint32_t updated, std::uint32_t total = 1'000) {
  return {
      reactor::wall_time(std::chrono::seconds(1'800'000'000 + second)), total, updated, 0, 0, 0};
}

TEST(History, KeepsStepsAndNothingWhileNothingChanges) {
  progress_history h;
  for (int i = 0; i < 1'000; ++i) h.add(at(i, i < 500 ? 0 : 7), "sha256:a");
  ASSERT_EQ(h.points().size(), 2u);
  EXPECT_EQ(h.points()[1], at(500, 7));
}

TEST(History, StaysSmallAndKeepsItsEndsHoweverLongARolloutLasts) {
  progress_history h;
  for (int i = 0; i < 100'000; ++i)
    h.add(at(i * 3, static_cast<std::uint32_t>(i), 100'000), "sha256:a");
  EXPECT_LE(h.points().size(), progress_history::most_points);
  EXPECT_GE(h.points().size(), progress_history::most_points / 4);
  EXPECT_EQ(h.points().front(), at(0, 0, 100'000));
  EXPECT_EQ(h.points().back(), at(99'999 * 3, 99'999, 100'000));
  EXPECT_TRUE(std::ranges::is_sorted(h.points(), {}, &progress_point::at));
  EXPECT_TRUE(std::ranges::is_sorted(h.points(), {}, &progress_point::updated));
}

TEST(History, BeginsAnewFinelyWithAnotherTarget) {
  progress_history h;
  for (int i = 0; i < 5'000; ++i) h.add(at(i * 60, static_cast<std::uint32_t>(i)), "sha256:a");
  const std::size_t before = h.points().size();
  for (int i = 0; i < 20; ++i)
    h.add(at(400'000 + i * 2, static_cast<std::uint32_t>(i)), "sha256:b");
  EXPECT_LE(h.points().size(), before);
  EXPECT_EQ(h.points().size(), progress_history::kept_of_before + 20);
  ASSERT_EQ(h.targets().size(), 2u);
  EXPECT_EQ(h.targets().back().to, "sha256:b");
  for (int i = 0; i < 1'000; ++i) h.add(at(500'000 + i, 1), "sha256:" + std::to_string(i));
  EXPECT_LE(h.targets().size(), progress_history::most_targets);
  EXPECT_LE(h.points().size(), progress_history::most_points);
}

TEST(History, IsJsonAndAClockThatWasSetBackDoesNotTurnItRound) {
  progress_history h;
  h.add(at(100, 1), "sha256:\"a\u202e");
  h.add(at(10, 2), "sha256:\"a\u202e");
  const json::value v = json::parse(h.json());
  EXPECT_EQ(v.at("points").as_array().size(), 2u);
  EXPECT_EQ(v.at("points").as_array()[1].as_array()[0].as_int64(), 1'800'000'100);
  EXPECT_EQ(v.at("targets").as_array()[0].as_array()[1].as_string(), "sha256:\"a\u202e");
}

// What makes markup or code of a text does not occur: textContent and attributes that are only read
// are enough.
TEST(PageFiles, MakeNoMarkupOfTextsAndLoadNothingForeign) {
  EXPECT_GE(files().size(), 9u);
  for (const file& f : files()) {
    EXPECT_FALSE(f.text.empty()) << f.name;
    for (const char* forbidden : {"innerHTML", "outerHTML", "insertAdjacent", "document.write",
                                  "DOMParser", "createContextualFragment", "srcdoc", "eval(",
                                  "new Function", "setTimeout(\"", "setInterval(\"", "javascript:",
                                  "import(", "@import", "url(", "<style", "<script>", " style="})
      EXPECT_EQ(f.text.find(forbidden), f.text.npos) << f.name << ": " << forbidden;
    // "textContent = printable(": only what went through the door.
    for (std::size_t at = f.text.find("textContent = "); at != f.text.npos;
         at = f.text.find("textContent = ", at + 1))
      EXPECT_TRUE(f.text.substr(at).starts_with("textContent = printable(")) << f.name;
    for (std::size_t at = f.text.find("://"); at != f.text.npos; at = f.text.find("://", at + 1))
      EXPECT_TRUE(f.text.substr(at).starts_with("://www.w3.org/2000/svg"))
          << f.name << ": " << f.text.substr(at, 40);
    if (f.name.ends_with(".js")) continue;
    for (const char* handler : {" onclick", " onload", " onerror", " onmouse", " onfocus"}) {
      EXPECT_EQ(f.text.find(handler), f.text.npos) << f.name << ": " << handler;
    }
  }
}

TEST(PageFiles, AreSmall) {
  std::size_t all = 0;
  for (const file& f : files()) all += f.text.size();
  std::cout << "## page files " << files().size() << " bytes " << all << "\n";
  EXPECT_LE(all, 100u * 1024);
}

}  // namespace
