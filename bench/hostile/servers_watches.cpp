// Watches that say too much, too little, or what cannot be.
#include "bench/hostile/server_host.hpp"
#include "bench/hostile/servers.hpp"
#include "reactor/loop.hpp"

namespace bench::hostile {
namespace {

std::string event(const std::string& type, const std::string& name, std::uint64_t version,
                  const std::string& more_metadata = {},
                  const std::string& uid = "00000000-0000-4000-a000-000000000001") {
  return R"({"type":")" + type +
         R"(","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","uid":")" + uid + R"(","resourceVersion":")" + std::to_string(version) + "\"" +
         more_metadata + R"(},"spec":{},"status":{}}})" + "\n";
}
std::string error(const std::string& code, const std::string& reason,
                  const std::string& message = "no") {
  return R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":)" +
         code + R"(,"reason":")" + reason + R"(","message":")" + message + "\"}}\n";
}

/// A stream that says these bytes and then nothing.
script stream(lazy bytes) {
  return [bytes](visit& v) -> awaitable<void> {
    const bool there = co_await v.say(chunked() + chunk(bytes.text()));
    if (there) co_await v.hold();
  };
}
/// Says what `make` makes of 1, 2, … for ever, `at_once` of them in one piece, and then waits for
/// `pause`.
script events(std::function<std::string(std::uint64_t)> make, std::size_t at_once = 200,
              reactor::nanoseconds pause = {}) {
  return [make, at_once, pause](visit& v) -> awaitable<void> {
    bool there = co_await v.say(chunked());
    for (std::uint64_t i = 0; there;) {
      std::string some;
      for (std::size_t k = 0; k < at_once; ++k) some += make(++i);
      there = co_await v.say(chunk(some));
      if (pause > reactor::nanoseconds::zero())
        co_await v.loop.sleep_for(pause);
      else
        co_await breathe(v.loop);
    }
  };
}

}  // namespace

void add_watch_servers(std::vector<server>& to) {
  // At rest a server is asked for its version after 90 s of silence, and believed a little later.
  constexpr reactor::nanoseconds believed_by = std::chrono::seconds(130);
  const auto add = [&to](std::string name, script s, std::string state = "Live",
                         std::string says = {}, place at = place::watch) {
    to.push_back(
        {"watch: " + std::move(name), at, std::move(s), std::move(state), std::move(says)});
  };
  const auto odd = [&](const std::string& name, lazy bytes, std::string state = "Live",
                       std::string says = {}) {
    add(name, stream(std::move(bytes)), std::move(state), std::move(says));
  };
  const auto initial = [&](const std::string& name, script said, std::string state = "Live") {
    add(name, std::move(said), std::move(state), {}, place::stream);
  };
  const std::string end =
      R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"1000","annotations":{"k8s.io/initial-events-end":"true"}}}})"
      "\n";
  initial("initial events without an end",
          stream([] { return event("ADDED", "node-1", 900) + event("ADDED", "node-2", 901); }));
  initial("initial events for ever", events([](std::uint64_t i) {
            return event("ADDED", "n" + std::to_string(i), 1000 + i, "", "u" + std::to_string(i));
          }),
          "Stale");
  initial("initial events that end again and again",
          stream([end] { return event("ADDED", "node-1", 900) + repeated(end, 1'000); }));
  initial("initial events that drip",
          says_for_ever(chunked(), chunk(event("ADDED", "node-1", 900)), 5s));
  initial("deletions among initial events",
          stream([end] { return event("DELETED", "node-1", 900) + end; }), "Unreachable");
  initial(
      "initial events whose end has no version", stream([] {
        return std::string(
            R"({"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}})"
            "\n");
      }),
      "Unreachable");
  initial("the initial events of the past", [end](visit& v) -> awaitable<void> {
    std::string said = chunked() + chunk(end);
    if (v.nth > 0)
      said =
          chunked() +
          chunk(
              R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}})"
              "\n");
    said += "0\r\n\r\n";
    v.again = co_await v.say(std::move(said));
  });
  odd("an unknown type", event("RENAMED", "node-1", 1001), "Live", "unknown type");
  odd("no type", R"({"object":{"metadata":{"name":"a"}}})"
                 "\n");
  odd("a type of 1 MB", [] { return event(std::string(1 << 20, 'T'), "node-1", 1001); });
  odd("no object", R"({"type":"ADDED"})"
                   "\n");
  odd("an object that is null", R"({"type":"MODIFIED","object":null})"
                                "\n");
  odd("an object that is an array", R"({"type":"MODIFIED","object":[1]})"
                                    "\n");
  odd("an event that is no JSON", "ADDED node-1\n", "Live", "not JSON");
  odd("blank lines for a while", [] { return std::string(200'000, '\n'); });
  odd("NUL bytes", [] { return std::string(100'000, '\0') + "\n"; });
  odd("an object of another kind",
      R"({"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","uid":"u","resourceVersion":"1001"},"data":{"a":"YQ=="}}})"
      "\n");
  to.back().look = believed_by;
  // Its lists stay at version 1000, behind what it has said here.
  constexpr const char* past = "and had been at";
  constexpr const char* newer = "had shown it at a newer one";
  odd("a version that repeats",
      event("MODIFIED", "node-1", 1001) + event("MODIFIED", "node-1", 1001), "Stale", past);
  odd("a version that goes backwards",
      event("MODIFIED", "node-1", 1005) + event("MODIFIED", "node-1", 1001), "Stale", past);
  odd("a version of letters",
      R"({"type":"MODIFIED","object":{"metadata":{"name":"node-1","uid":"u","resourceVersion":"new"}}})"
      "\n");
  odd(
      "a version of 100,000 digits",
      [] {
        return R"({"type":"MODIFIED","object":{"metadata":{"name":"node-1","uid":"u","resourceVersion":")" +
               std::string(100'000, '9') + "\"}}}\n";
      },
      "Stale", newer);
  odd("a change of what was never there", event("MODIFIED", "stranger", 1001));
  odd("a deletion of what was never there", event("DELETED", "stranger", 1001));
  odd("another object of the same name",
      event("MODIFIED", "node-1", 1001, "", "00000000-0000-4000-a000-00000000ffff"), "Stale",
      newer);
  odd("an added object that is there", event("ADDED", "node-1", 1001));
  to.back().look = believed_by;
  odd("a bookmark that goes backwards", bookmark("Node", "5000") + bookmark("Node", "10"), "Stale",
      past);
  odd("a bookmark without a version", R"({"type":"BOOKMARK","object":{"metadata":{}}})"
                                      "\n");
  odd("a bookmark of the largest version, then the next events",
      bookmark("Node", "18446744073709551615") + event("MODIFIED", "node-1", 1001), "Stale", past);
  odd("the end of initial events that nobody asked for",
      R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1001","annotations":{"k8s.io/initial-events-end":"true"}}}})"
      "\n");
  to.back().look = believed_by;
  odd("a list instead of events",
      R"({"kind":"NodeList","metadata":{"resourceVersion":"1001"},"items":[]})"
      "\n");
  odd("an event over several lines", "{\"type\":\n\"MODIFIED\",\n\"object\":{}}\n");
  odd("half an event, then silence", event("MODIFIED", "node-1", 1001).substr(0, 40));
  odd("an event of 3.9 MB", [] {
    return event("MODIFIED", "node-1", 1001,
                 R"(,"annotations":{"a":")" + std::string(3'900'000, 'a') + "\"}");
  });
  odd("an event of 5 MB", [] {
    return event("MODIFIED", "node-1", 1001,
                 R"(,"annotations":{"a":")" + std::string(5'000'000, 'a') + "\"}");
  });
  odd("an event of 100,000 levels",
      [] { return R"({"type":"MODIFIED","object":)" + repeated("{\"a\":", 100'000) + "\n"; });
  odd("ERROR without a Status", R"({"type":"ERROR","object":"no"})"
                                "\n");
  odd("ERROR with a message of 1 MB",
      [] { return error("500", "InternalError", std::string(1 << 20, 'm')); });
  odd("ERROR with escapes", error("500", "InternalError", R"(\u001b]0;pwned\u0007\u009b2J)"));
  add("ERROR with each code in turn", [](visit& v) -> awaitable<void> {
    constexpr const char* codes[] = {"400", "401", "403", "404", "409", "410", "429",
                                     "500", "503", "504", "0",   "-1",  "1e99"};
    (void)co_await v.say(chunked() + chunk(error(codes[v.nth % std::size(codes)], "Turn")));
    co_await v.hold();
  });
  odd("410 for ever", error("410", "Expired"));
  add("410 as a status for ever",
      says_and_goes_on(answer(R"({"kind":"Status","code":410,"reason":"Expired"})", "410 Gone")));
  add("401",
      says_and_goes_on(
          answer(R"({"kind":"Status","code":401,"reason":"Unauthorized"})", "401 Unauthorized")),
      "Live");
  add("403",
      says_and_goes_on(
          answer(R"({"kind":"Status","code":403,"reason":"Forbidden"})", "403 Forbidden")),
      "Forbidden");
  add("429 for an hour",
      says_and_goes_on(answer(R"({"kind":"Status","code":429,"reason":"TooManyRequests"})",
                              "429 Too Many Requests", "Retry-After: 3600\r\n")));
  add("ends at once, always",
      [](visit& v) -> awaitable<void> { v.again = co_await v.say(chunked() + "0\r\n\r\n"); });
  add("ends after an event, always", [](visit& v) -> awaitable<void> {
    v.again =
        co_await v.say(chunked() + chunk(event("MODIFIED", "node-1", 1001 + v.nth)) + "0\r\n\r\n");
  });
  add("cut within an event, always", says(chunked() + "ff\r\n{\"type\":\"MODI"));
  add("a line without an end",
      says_for_ever(chunked() + chunk(R"({"type":"MODIFIED","object":{"a":")"),
                    chunk(std::string(65'536, 'a'))));
  add("a line without an end that drips",
      says_for_ever(chunked() + chunk(R"({"type":"MODIFIED","object":{"a":")"), chunk("a"), 1s),
      "Live");
  add("each byte in a chunk of its own", [](visit& v) -> awaitable<void> {
    bool there = co_await v.say(chunked());
    for (std::uint64_t i = 1; there; ++i) {
      std::string split;
      if (v.newest) *v.newest = 1000 + i;
      for (const char c : event("MODIFIED", "node-1", 1000 + i)) {
        split += "1\r\n";
        split += c;
        split += "\r\n";
      }
      there = co_await v.say(split);
      co_await breathe(v.loop);
    }
  });
  add("changes of one object for ever",
      events([](std::uint64_t i) { return event("MODIFIED", "node-1", 1000 + i); }));
  add("the same object, other labels, for ever", events([](std::uint64_t i) {
        return event(
            "MODIFIED", "node-1", 1000 + i,
            R"(,"labels":{"l)" + std::to_string(i) + R"(":"v)" + std::to_string(i) + "\"}");
      }));
  add("added and deleted for ever", events([](std::uint64_t i) {
        return event(i % 2 ? "ADDED" : "DELETED", "churn", 1000 + i);
      }));
  // A list of the same server knows none of them, and that counts in the end.
  add("new objects for ever", events([](std::uint64_t i) {
        return event("ADDED", "n" + std::to_string(i), 1000 + i, "", "u" + std::to_string(i));
      }),
      "Live");
  add("large changes for ever",
      events(
          [](std::uint64_t i) {
            return event("MODIFIED", "node-1", 1000 + i,
                         R"(,"annotations":{"a":")" + std::string(1 << 20, 'a') + "\"}");
          },
          1));
  add("new objects of 1 MB for ever",
      events(
          [](std::uint64_t i) {
            return event("ADDED", "n" + std::to_string(i), 1000 + i,
                         R"(,"annotations":{"a":")" + std::string(1 << 20, 'a') + "\"}",
                         "u" + std::to_string(i));
          },
          1),
      "Live");
  add("bookmarks for ever",
      events([](std::uint64_t i) { return bookmark("Node", std::to_string(1000 + i)); }));
  add("the same bookmark for ever", events([](std::uint64_t) { return bookmark("Node", "1000"); }));
  add("blank lines for ever", says_for_ever(chunked(), chunk(std::string(65'536, '\n'))));
  add("a blank line every second", says_for_ever(chunked(), chunk("\n"), 1s));
  add("silence", says_and_holds(chunked()));
  add("silence without an answer", says_and_holds(""));
  add("silence of everything, probes too", says_and_holds(""), "Unreachable", {},
      place::after_list);
  add("half a stream, and every later request is cut", says(chunked()), "Live", {},
      place::after_list);
  add("packed though nobody asked for it",
      says_and_holds("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: "
                     "gzip\r\nTransfer-Encoding: chunked\r\n\r\n" +
                     chunk("\x1f\x8b\x08 not really")));
}

}  // namespace bench::hostile
