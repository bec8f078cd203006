// Whole answers that say the wrong thing: JSON, discovery, redirects, refusals.
#include "bench/hostile/servers.hpp"
#include "reactor/loop.hpp"

#include <array>

namespace bench::hostile {
namespace {

std::string version_of(const std::string& major, const std::string& minor,
                       const std::string& git_version) {
  return R"({"major":)" + major + R"(,"minor":)" + minor + R"(,"gitVersion":)" + git_version + "}";
}

std::string status(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":")" +
         reason + R"(","code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}";
}

std::string namespace_with(const std::string& members) {
  return R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"u"})" +
         members + "}";
}

/// A document of `n` groups, the last of which is one we want.
std::string groups(std::size_t n) {
  std::string all = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[)";
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "g" + std::to_string(i);
    all += R"({"name":")" + name + R"(","versions":[{"groupVersion":")" + name +
           R"(/v1","version":"v1"}],"preferredVersion":{"groupVersion":")" + name +
           R"(/v1","version":"v1"}},)";
  }
  return all +
         R"({"name":"node.bootc.dev","versions":[{"groupVersion":"node.bootc.dev/v1alpha1","version":"v1alpha1"}]}]})";
}

std::string one_group_with_versions(std::size_t n) {
  std::string all =
      R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"node.bootc.dev","versions":[)";
  for (std::size_t i = 0; i < n; ++i)
    all += R"({"groupVersion":"node.bootc.dev/v)" + std::to_string(i) + R"("},)";
  return all + R"({"groupVersion":"node.bootc.dev/v1alpha1","version":"v1alpha1"}]}]})";
}

std::string resources(std::size_t n) {
  std::string all =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"node.bootc.dev/v1alpha1","resources":[)";
  for (std::size_t i = 0; i < n; ++i)
    all += R"({"name":"r)" + std::to_string(i) +
           R"(","singularName":"","namespaced":true,"kind":"R","verbs":["get"]},)";
  return all +
         R"({"name":"bootcnodepools","namespaced":false,"kind":"BootcNodePool","verbs":["list"]},{"name":"bootcnodes","namespaced":false,"kind":"BootcNode","verbs":["list"]}]})";
}

script redirects(const std::string& where, const std::string& code = "302 Found") {
  return says_and_goes_on(answer("", code, "Location: " + where + "\r\n"));
}

/// Always refuses with the next of these codes.
script in_turn(std::vector<int> codes) {
  return [codes](visit& v) -> awaitable<void> {
    const int code = codes[v.nth % codes.size()];
    v.again =
        co_await v.say(answer(status(code, "Turn", "in turn"), std::to_string(code) + " Turn"));
  };
}

}  // namespace

void add_answer_servers(std::vector<server>& to) {
  const auto add_at = [&to](place at, std::string name, script s, std::string state,
                            std::string says) {
    to.push_back({std::move(name), at, std::move(s), std::move(state), std::move(says)});
  };
  const auto json = [&](const std::string& name, lazy body, std::string state = "Unreachable",
                        std::string says = "get /version") {
    add_at(place::version, "json: " + name, answers(std::move(body)), std::move(state),
           std::move(says));
  };
  const auto identity = [&](const std::string& name, lazy body, std::string state,
                            std::string says) {
    add_at(place::identity, "json: " + name, answers(std::move(body)), std::move(state),
           std::move(says));
  };
  json("empty", "");
  json("a text", "\"v1.30.0\"");
  json("null", "null");
  json("an array", "[1,30]");
  json("NaN", version_of("NaN", "30", "\"v1\""));
  json("a byte order mark", "\xef\xbb\xbf" + version_of("\"1\"", "\"30\"", "\"v1.30.0\""),
       "Unreachable", "");
  json("something behind it", version_of("\"1\"", "\"30\"", "\"v1.30.0\"") + " {}");
  json("invalid UTF-8", version_of("\"1\"", "\"30\"", "\"v\xc3\x28\xff\""));
  json("half a surrogate pair", version_of("\"1\"", "\"30\"", "\"\\ud800\""));
  json("a comment", "/* */" + version_of("\"1\"", "\"30\"", "\"v1.30.0\""));
  json("the same member twice", R"({"major":"1","minor":"30","major":"2","gitVersion":"v1.30.0"})",
       "Live", "");
  json("100,000 arrays within each other", [] { return std::string(100'000, '['); });
  json("100,000 objects within each other", [] { return repeated("{\"a\":", 100'000); });
  json("1 MiB of commas", [] { return "[" + std::string(1 << 20, ',') + "]"; });
  json("a number of a million digits",
       [] { return version_of(std::string(1'000'000, '9'), "30", "\"v1\""); });
  json("a number with an exponent of a million digits",
       [] { return version_of("1e" + std::string(1'000'000, '9'), "30", "\"v1\""); });
  json("a major version beyond all numbers",
       version_of("\"999999999999999999999999\"", "\"30\"", "\"v1\""));
  json("a negative minor version", version_of("\"1\"", "\"-2147483648\"", "\"v1.30.0\""), "Live",
       "");
  json("a version of objects", version_of("{}", "[]", "{\"a\":1}"));
  json("a version with escapes",
       version_of("\"1\"", "\"30\"", R"("v1\u001b]0;pwned\u0007\u009b2J")"), "Live", "");
  json(
      "a version of 1 MB",
      [] { return version_of("\"1\"", "\"30\"", "\"v" + std::string(1 << 20, '1') + "\""); },
      "Live", "");
  json("a login page", "<!doctype html><html><body>please log in</body></html>");
  json(
      "15 MiB in one text",
      [] { return version_of("\"1\"", "\"30\"", "\"" + std::string(15 << 20, 'v') + "\""); },
      "Unreachable", "");
  json("17 MiB in one text",
       [] { return version_of("\"1\"", "\"30\"", "\"" + std::string(17 << 20, 'v') + "\""); });
  identity(
      "an array of 4 million numbers",
      [] { return namespace_with(",\"spec\":[" + repeated("0,", 4'000'000) + "0]"); },
      "Unreachable", "");
  identity(
      "a million members",
      [] {
        std::string members;
        for (int i = 0; i < 600'000; ++i) members += ",\"m" + std::to_string(i) + "\":0";
        return namespace_with(members);
      },
      "Unreachable", "");
  identity(
      "40 MiB of objects",
      [] { return namespace_with(",\"a\":[" + repeated("{},", 14'000'000) + "{}]"); },
      "Unreachable", "kube-system");
  identity("a namespace without metadata", R"({"kind":"Namespace","metadata":[]})", "Live", "");
  identity("a uid of 1 MB",
           R"({"kind":"Namespace","metadata":{"uid":")" + std::string(1 << 20, 'u') + R"("}})",
           "Live", "");
  identity("a uid of 500 levels",
           R"({"kind":"Namespace","metadata":{"uid":)" + std::string(500, '[') +
               std::string(500, ']') + "}}",
           "Unreachable", "");
  identity("no kind", R"({"metadata":{"uid":"u"}})", "Unreachable",
           "does not speak the Kubernetes API");

  const auto discovery = [&](const std::string& name, lazy body, std::string state,
                             std::string says, place at = place::groups) {
    add_at(at, "discovery: " + name, answers(std::move(body)), std::move(state), std::move(says));
  };
  discovery("1 MiB of groups", [] { return groups(8'000); }, "Unreachable", "");
  discovery("8 MiB of groups", [] { return groups(60'000); }, "Unreachable", "");
  discovery(
      "a group of 100,000 versions", [] { return one_group_with_versions(100'000); }, "Unreachable",
      "");
  discovery("groups that are numbers", R"({"kind":"APIGroupList","groups":[1,2,3]})", "CRDMissing",
            "not served");
  discovery("groups that are an object", R"({"kind":"APIGroupList","groups":{}})", "Unreachable",
            "does not speak the Kubernetes API");
  discovery("no group at all", R"({"kind":"APIGroupList","groups":[]})", "CRDMissing",
            "not served");
  discovery("another kind", R"({"kind":"PodList","items":[]})", "Unreachable",
            "does not speak the Kubernetes API");
  discovery("a page", "<html>hello</html>", "Unreachable", "get /apis");
  discovery("groups within groups",
            R"({"kind":"APIGroupList","groups":)" + std::string(100'000, '['), "Unreachable",
            "get /apis");
  discovery(
      "a group named ..",
      R"({"kind":"APIGroupList","groups":[{"name":"..","versions":[{"groupVersion":"../../v1"}]}]})",
      "CRDMissing", "not served");
  discovery("1 MiB of resources", [] { return resources(12'000); }, "Live", "", place::resources);
  discovery("resources that are numbers", R"({"kind":"APIResourceList","resources":[1,2]})",
            "CRDMissing", "not served", place::resources);
  discovery("resources that are a text", R"({"kind":"APIResourceList","resources":"all"})",
            "Unreachable", "", place::resources);

  const auto redirect = [&](const std::string& name, script s) {
    add_at(place::version, "redirect: " + name, std::move(s), "Unreachable", "get /version");
  };
  redirect("to itself", redirects("/version"));
  redirect("to another host", redirects("http://evil.example/version"));
  redirect("to the machine's metadata", redirects("http://169.254.169.254/latest/meta-data"));
  redirect("to plain HTTP", redirects("http://127.0.0.1:1/version", "301 Moved Permanently"));
  redirect("to a file", redirects("file:///etc/shadow", "307 Temporary Redirect"));
  redirect("with a line's end in it", redirects("/a\r\nX-B: c", "308 Permanent Redirect"));
  redirect("without a place", says_and_goes_on(answer("", "302 Found")));
  redirect("to ever new places", [](visit& v) -> awaitable<void> {
    v.again = co_await v.say(
        answer("", "302 Found", "Location: /version?" + std::to_string(v.nth) + "\r\n"));
  });

  const auto refuses = [&](const std::string& name, script s, std::string state,
                           std::string says = "get /version", place at = place::version) {
    add_at(at, "refusal: " + name, std::move(s), std::move(state), std::move(says));
  };
  const auto throttled = [](const std::string& after) {
    return says_and_goes_on(answer(status(429, "TooManyRequests", "slow down"),
                                   "429 Too Many Requests", "Retry-After: " + after + "\r\n"));
  };
  refuses("429 for a century", throttled("3153600000"), "Unreachable");
  refuses("429 for 2^63 seconds", throttled("9223372036854775807"), "Unreachable");
  refuses("429 for more than any number", throttled("99999999999999999999999"), "Unreachable");
  refuses("429 for a negative time", throttled("-5"), "Unreachable");
  refuses("429 until the year 9999", throttled("Fri, 31 Dec 9999 23:59:59 GMT"), "Unreachable");
  refuses("429 until nonsense", throttled("soon"), "Unreachable");
  refuses("429 of everything but the first list", throttled("3600"), "Live", "", place::after_list);
  refuses("503 with a page",
          says_and_goes_on(
              answer("<html><h1>503</h1></html>", "503 Service Unavailable", "Retry-After: 0\r\n")),
          "Unreachable");
  refuses("401 for ever",
          says_and_goes_on(answer(status(401, "Unauthorized", "who are you"), "401 Unauthorized")),
          "Unauthorized");
  refuses("401 with a challenge of 60 KB",
          says_and_goes_on(
              answer("", "401 Unauthorized",
                     "WWW-Authenticate: Basic realm=\"" + std::string(60'000, 'a') + "\"\r\n")),
          "Unauthorized");
  refuses("403", says_and_goes_on(answer(status(403, "Forbidden", "no"), "403 Forbidden")),
          "Forbidden");
  refuses("each code in turn",
          in_turn({400, 401, 403, 404, 405, 409, 410, 413, 422, 429, 500, 502, 503, 504, 511}),
          "Unreachable");
  refuses("500 with a message of 900 KB",
          says_and_goes_on(answer(status(500, "InternalError", std::string(900'000, 'm')),
                                  "500 Internal Server Error")),
          "Unreachable");
  refuses("500 with a message of 2 MB",
          says_and_goes_on(answer(status(500, "InternalError", std::string(2'000'000, 'm')),
                                  "500 Internal Server Error")),
          "Unreachable");
  refuses("500 with escapes in its message",
          says_and_goes_on(answer(
              status(500, R"(\u001b[2J)", R"(\u001b]0;pwned\u0007 \u009b31m \r\n\u202e reversed)"),
              "500 Internal Server Error")),
          "Unreachable");
  refuses("a body that is no Status",
          says_and_goes_on(answer(R"({"kind":["Status"],"message":{"a":1},"code":"x"})",
                                  "500 Internal Server Error")),
          "Unreachable");
  refuses("a Status with code 200",
          says_and_goes_on(answer(status(200, "OK", "all is well"), "500 Internal Server Error")),
          "Unreachable");
  refuses(
      "events, leases and objects with messages of 3 KB",
      says_and_goes_on(answer(status(403, "Forbidden", std::string(3'000, 'm')), "403 Forbidden")),
      "Forbidden", "", place::after_list);
}

}  // namespace bench::hostile
