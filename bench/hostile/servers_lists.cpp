// Lists that lie about their version, their end, their objects or their size.
#include "bench/hostile/servers.hpp"
#include "reactor/loop.hpp"

namespace bench::hostile {
namespace {

std::string node(const std::string& name, const std::string& uid, const std::string& version,
                 const std::string& more_metadata = {}, const std::string& more = {}) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         version + "\"" + more_metadata + R"(},"spec":{},"status":{})" + more + "}";
}
std::string uid(std::size_t i) {
  const std::string n = "00000000-0000-4000-a000-000000000000" + std::to_string(i);
  return n.substr(n.size() - 12).insert(0, "00000000-0000-4000-a000-");
}
std::string nodes(std::size_t n, const std::string& more_metadata = {}) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i)
    all += (i ? "," : "") + node("n" + std::to_string(i), uid(i), "900", more_metadata);
  return all;
}
std::string list(const std::string& items, const std::string& version = "1000",
                 const std::string& more_metadata = {}) {
  return R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
         "\"" + more_metadata + R"(},"items":[)" + items + "]}";
}
const std::string list_begin =
    R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[)";

/// Objects of about `bytes`, one after the other in chunks, `n` of them (0: for ever).
script large_objects(std::size_t bytes, std::size_t n) {
  return [bytes, n](visit& v) -> awaitable<void> {
    bool there = co_await v.say(chunked() + chunk(list_begin));
    const std::string annotation = R"(,"annotations":{"a":")" + std::string(bytes, 'a') + "\"}";
    for (std::size_t i = 0; there && (n == 0 || i < n); ++i)
      there = co_await v.say(
          chunk((i ? "," : "") + node("n" + std::to_string(i), uid(i), "900", annotation)));
    if (there) there = co_await v.say(chunk("]}") + "0\r\n\r\n");
    v.again = there;
  };
}

/// Small objects for ever.
script endless_objects() {
  return [](visit& v) -> awaitable<void> {
    bool there = co_await v.say(chunked() + chunk(list_begin + node("first", uid(0), "900")));
    for (std::size_t i = 1; there;) {
      std::string some;
      for (std::size_t k = 0; k < 500; ++k, ++i)
        some += "," + node("n" + std::to_string(i), uid(i), "900");
      there = co_await v.say(chunk(some));
      co_await v.loop.yield();
    }
  };
}

script versions(std::vector<std::string> each) {
  return [each](visit& v) -> awaitable<void> {
    v.again = co_await v.say(answer(list(nodes(3), each[v.nth % each.size()])));
  };
}

}  // namespace

void add_list_servers(std::vector<server>& to) {
  const auto add = [&to](std::string name, script s, std::string state = "Unreachable",
                         std::string says = "nodes", place at = place::list) {
    to.push_back({"list: " + std::move(name), at, std::move(s), std::move(state), std::move(says)});
  };
  const auto has = [&](const std::string& name, lazy body, std::string state = "Unreachable",
                       std::string says = "nodes") {
    add(name, answers(std::move(body)), std::move(state), std::move(says));
  };
  const std::string beyond = "there are more than this process keeps of one cluster";
  has(
      "its version comes last",
      [] {
        return R"({"kind":"NodeList","items":[)" + nodes(20'000) +
               R"(],"metadata":{"resourceVersion":"1000"}})";
      },
      "Stale", beyond);
  has("almost as many nodes as are kept", [] { return list(nodes(9'990)); }, "Live", "");
  has("one node more than is kept", [] { return list(nodes(10'001)); }, "Stale", beyond);
  has("no version", R"({"kind":"NodeList","metadata":{},"items":[]})");
  has("no metadata", R"({"kind":"NodeList","items":[]})");
  has("an empty version", list(nodes(3), ""));
  has("a version of letters", list(nodes(3), "latest"), "Live", "");
  has(
      "a version of 1 MB", [] { return list(nodes(3), std::string(1 << 20, '9')); }, "Unreachable",
      "");
  has("items before everything else, and twice",
      R"({"items":[],"metadata":{"resourceVersion":"1000"},"items":[]})", "Unreachable", "");
  has("items that are null",
      R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":null})", "Live", "");
  has("items that are an object",
      R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":{}})", "Unreachable", "");
  has("items that are a number",
      R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":7})", "Unreachable", "");
  has("objects that are numbers", list("1,2,3"));
  has("objects that are arrays", list("[],[[]],[]"));
  has("objects that are null", list("null,null"));
  has("an object without metadata", list(R"({"spec":{}})"));
  has("an object without a version", list(R"({"metadata":{"name":"a","uid":"u"}})"));
  has("an object without a name",
      list(R"({"metadata":{"name":"","uid":"u","resourceVersion":"1"}})"), "Unreachable", "");
  has("objects of another kind",
      list(
          R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","uid":"u","resourceVersion":"1"},"data":{"password":"YQ=="}})"),
      "Live", "");
  has("metadata of other types",
      list(
          R"({"metadata":{"name":7,"uid":[],"resourceVersion":{},"labels":"x","annotations":[1]}})"));
  has(
      "one name 5,000 times",
      [] {
        std::string all;
        for (std::size_t i = 0; i < 5'000; ++i)
          all += (i ? "," : "") + node("same", uid(i), std::to_string(900 + i));
        return list(all);
      },
      "Stale", "had shown it at a newer one");
  has(
      "one uid 5,000 times",
      [] {
        std::string all;
        for (std::size_t i = 0; i < 5'000; ++i)
          all += (i ? "," : "") + node("n" + std::to_string(i), uid(1), "900");
        return list(all);
      },
      "Live", "");
  has("names that are paths and escapes",
      list(node(R"(../../x\u001b]0;pwned\u0007)", uid(1), "1") + "," +
           node(R"(\u0000)", uid(2), "1") + "," + node("a/b?c=d#e", uid(3), "1")),
      "Live", "");
  has(
      "a name of 1 MB", [] { return list(node(std::string(1 << 20, 'n'), uid(1), "1")); },
      "Unreachable", "");
  has(
      "60,000 names that an unseeded hash mixes badly",
      [] {
        // Differences in the high bits of each eight bytes only.
        std::string all;
        for (std::size_t i = 0; i < 60'000; ++i) {
          std::string name(24, 'a');
          for (std::size_t bit = 0; bit < 16; ++bit)
            if (i >> bit & 1) name[(bit % 3) * 8 + 7 - bit / 3 % 2] = static_cast<char>('b' + bit);
          all += (i ? "," : "") + node(name + std::to_string(i), uid(i), "900");
        }
        return list(all);
      },
      "Stale", beyond);
  has(
      "10,000 labels on each of 100 objects",
      [] {
        std::string labels = ",\"labels\":{";
        for (int i = 0; i < 10'000; ++i)
          labels += (i ? ",\"l" : "\"l") + std::to_string(i) + R"(":"v")";
        return list(nodes(100, labels + "}"));
      },
      "Unreachable", "");
  has(
      "100,000 taints on one object",
      [] {
        return list(
            R"({"metadata":{"name":"n","uid":"u","resourceVersion":"1"},"spec":{"taints":[)" +
            repeated(R"({"key":"a","effect":"NoSchedule"},)", 100'000) + "{}]}}");
      },
      "Unreachable", "");
  has("an object of 900 levels",
      list(node("n", uid(1), "1", "", ",\"x\":" + std::string(900, '[') + std::string(900, ']'))),
      "Unreachable", "");
  has("an object of 100,000 levels",
      [] { return list(node("n", uid(1), "1", "", ",\"x\":" + std::string(100'000, '['))); });
  has("half an object", R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{"met)");
  has("a text without an end within an object", [] {
    return R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{"a":")" +
           std::string(6 << 20, 'a');
  });
  has("something behind it", list(nodes(3)) + list(nodes(3)));
  has("a Status instead",
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":200,"message":"no list today"})");
  has("a page instead", "<html><body>no list</body></html>");
  has(
      "200,000 small objects", [] { return list(nodes(200'000)); }, "Stale",
      "there are more than this process keeps");
  add("objects of 4 MiB", large_objects((4 << 20) - 300, 10), "Unreachable", "");
  add("objects beyond 4 MiB", large_objects(5 << 20, 3));
  add("150 nodes of 3.9 MB", large_objects(3'900'000, 150), "Unreachable", "");
  add("objects for ever", endless_objects(), "Stale", beyond);
  add("blanks between objects for ever",
      says_for_ever(chunked() + chunk(list_begin), chunk(std::string(65'536, ' '))));
  add("a blank every five seconds", says_for_ever(chunked() + chunk(list_begin), chunk(" "), 5s));
  add("drips", drips(answer(list(nodes(100)))));
  add("silence after half of it", says_and_holds(chunked() + chunk(list_begin + nodes(2))));
  add(
      "pages for ever",
      [](visit& v) -> awaitable<void> {
        const std::string token = R"(,"continue":"t)" + std::to_string(v.nth) + "\"";
        v.again = co_await v.say(answer(list(nodes(2), "1000", token)));
      },
      "Unreachable", "");
  add(
      "the same page for ever",
      [](visit& v) -> awaitable<void> {
        v.again = co_await v.say(answer(list(nodes(2), "1000", R"(,"continue":"same")")));
      },
      "Unreachable", "");
  add(
      "empty pages for ever",
      [](visit& v) -> awaitable<void> {
        v.again = co_await v.say(answer(list("", "1000", R"(,"continue":"more")")));
      },
      "Unreachable", "");
  add(
      "a continue token of 1 MB",
      [](visit& v) -> awaitable<void> {
        v.again = co_await v.say(
            answer(list(nodes(2), "1000", ",\"continue\":\"" + std::string(1 << 20, 't') + "\"")));
      },
      "Unreachable", "");
  add(
      "a continue token with a line's end",
      [](visit& v) -> awaitable<void> {
        v.again = co_await v.say(answer(
            list(nodes(2), "1000", R"(,"continue":"a\r\nHost: evil\r\n\r\nDELETE / HTTP/1.1")")));
      },
      "Unreachable", "");
  add("410 for ever",
      says_and_goes_on(answer(
          R"({"kind":"Status","status":"Failure","reason":"Expired","code":410})", "410 Gone")));
  add("410 on each second page", [](visit& v) -> awaitable<void> {
    std::string page = answer(list(nodes(2), "1000", R"(,"continue":"more")"));
    if (v.nth % 2 == 1)
      page = answer(R"({"kind":"Status","code":410,"reason":"Expired"})", "410 Gone");
    v.again = co_await v.say(std::move(page));
  });
  add("500 for ever", says_and_goes_on(answer("{}", "500 Internal Server Error")));
  add("404", says_and_goes_on(
                 answer(R"({"kind":"Status","code":404,"reason":"NotFound"})", "404 Not Found")));
  add("too large a version, for ever",
      says_and_goes_on(answer(
          R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504,"message":"Too large resource version: 1, current: 0","details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})",
          "504 Gateway Timeout")));
  add("versions that go backwards", versions({"5000", "10", "9"}), "Stale", "");
}

}  // namespace bench::hostile
