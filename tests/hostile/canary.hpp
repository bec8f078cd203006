// Credentials are bait here: every error path that a server, a proxy, a Secret or a file can force
// is taken, and whatever people, logs, events, metrics and pages get to see is searched for the
// bait afterwards.
#pragma once

#include "bench/hostile/kubeconfigs.hpp"
#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace canary_run {

namespace json = boost::json;
using namespace std::chrono_literals;
using bench::hostile::canary;
using k8s::answer;
using received = k8s::scripted_server::received;
using reactor::awaitable;

inline const std::string bait = std::string(canary) + "-0123456789abcdefghijklmnop";

/// Every form in which the bait may be seen.
inline std::size_t hits(const std::string& text) {
  std::size_t n = 0;
  for (const std::string& form :
       {std::string(canary), formats::encode_base64("joe:" + bait), formats::encode_base64(bait),
        formats::encode_base64("joe:" + bait).substr(0, 12), formats::encode_base64(canary)})
    for (std::size_t at = 0; (at = text.find(form, at)) != text.npos; ++at) ++n;
  return n;
}

inline std::string sent(const received& r) {
  return std::string(r.fields.get("Authorization"));
}
/// What follows the scheme.
inline std::string proof(const received& r) {
  const std::string all = sent(r);
  return all.substr(std::min(all.find(' ') + 1, all.size()));
}

/// A server that repeats what it was sent, each in its own way.
struct echo {
  const char* name;
  std::function<answer(const received&)> make;
};

inline const std::vector<echo>& echoes() {
  static const std::vector<echo> all = {
      {"401 with the header",
       [](const received& r) { return answer::failure(401, "Unauthorized", "got " + sent(r)); }},
      {"401 with the proof alone",
       [](const received& r) { return answer::failure(401, "Unauthorized", "got " + proof(r)); }},
      {"403 with the proof in quotes",
       [](const received& r) { return answer::failure(403, "Forbidden", "user " + proof(r)); }},
      {"403 in plain text",
       [](const received& r) { return answer::text(403, "text/plain", "no: " + proof(r)); }},
      {"500 cut within the proof",
       [](const received& r) {
         return answer::text(500, "text/plain", std::string(180, 'x') + proof(r));
       }},
      {"a message cut within the proof",
       [](const received& r) {
         return answer::failure(500, "InternalError", std::string(2'020, 'x') + proof(r));
       }},
      {"503 with a page",
       [](const received& r) { return answer::text(503, "text/html", "<p>" + proof(r)); }},
      {"the proof as the reason",
       [](const received& r) { return answer::failure(422, proof(r), "no"); }},
      {"the proof in the causes",
       [](const received& r) {
         return answer::failure(422, "Invalid", "no",
                                R"({"causes":[{"reason":")" + proof(r) + R"(","message":")" +
                                    proof(r) + R"(","field":")" + proof(r) + "\"}]}");
       }},
      {"a webhook that denies",
       [](const received& r) {
         return answer::failure(
             400, "BadRequest",
             "admission webhook \\\"w\\\" denied the request: header " + sent(r));
       }},
      {"a redirect to the proof",
       [](const received& r) {
         answer a = answer::text(302, "text/plain", proof(r));
         a.header("Location", "http://elsewhere:6443/?token=" + proof(r));
         return a;
       }},
      {"a redirect to another host",
       [](const received&) {
         answer a = answer::text(307, "text/plain", "");
         a.header("Location", "http://elsewhere:6443/api");
         return a;
       }},
      {"a page",
       [](const received& r) { return answer::text(200, "text/html", "<p>" + proof(r)); }},
      {"no JSON", [](const received& r) { return answer::json(200, proof(r)); }},
      {"JSON of another kind",
       [](const received& r) { return answer::json(200, R"({"kind":")" + proof(r) + "\"}"); }},
      {"JSON without a kind",
       [](const received& r) { return answer::json(200, "[\"" + proof(r) + "\"]"); }},
      {"a Status that failed with 200",
       [](const received& r) {
         return answer::json(200, R"({"kind":"Status","status":"Failure","message":")" + proof(r) +
                                      R"(","reason":"Expired","code":410})");
       }},
      {"a head of the proof", [](const received& r) { return answer::raw(proof(r) + "\r\n\r\n"); }},
      {"the proof in the status line",
       [](const received& r) { return answer::raw("HTTP/1.1 500 " + proof(r) + "\r\n\r\n"); }},
      {"the proof as a field's name",
       [](const received& r) {
         return answer::raw("HTTP/1.1 200 OK\r\n" + proof(r) + " : (\r\n\r\n");
       }},
      {"the proof as a length",
       [](const received& r) {
         return answer::raw("HTTP/1.1 200 OK\r\nContent-Length: " + proof(r) + "\r\n\r\n");
       }},
      {"the proof as a chunk's size",
       [](const received& r) {
         return answer::raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + proof(r) +
                            "\r\n");
       }},
      {"the proof as an encoding",
       [](const received& r) {
         answer a = answer::json(200, "{}");
         a.header("Content-Encoding", proof(r));
         return a;
       }},
      {"the proof as gzip",
       [](const received& r) {
         answer a = answer::json(200, proof(r));
         a.header("Content-Encoding", "gzip");
         return a;
       }},
      {"the proof as a type", [](const received& r) { return answer::text(200, proof(r), "{}"); }},
      {"the proof as a pause",
       [](const received& r) {
         answer a = answer::failure(429, "TooManyRequests", "later " + proof(r));
         a.header("Retry-After", proof(r));
         return a;
       }},
      {"an end in the middle of the proof",
       [](const received& r) {
         answer a = answer::stream();
         a.piece("{\"kind\":\"" + proof(r));
         return a.cut();
       }},
      {"silence", [](const received&) { return answer::silence(); }},
      {"an end before the head", [](const received&) { return answer::raw(""); }},
      {"an ERROR event",
       [](const received& r) {
         answer a = answer::stream();
         a.piece(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":")" + proof(r) +
                 "\"}}\n");
         return a;
       }},
  };
  return all;
}

inline std::string kubeconfig(const std::string& host, const std::string& user,
                              const std::string& cluster = {}) {
  return "current-context: x\nclusters:\n- name: c\n  cluster:\n    server: 'http://" + host +
         ":6443'\n" + cluster + "users:\n- name: u\n  user: {" + user +
         "}\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n";
}

/// What a run showed to anybody, and how many error paths it took.
struct findings {
  std::size_t paths = 0;
  std::map<std::string, std::string> outputs;
};

inline void report(const char* what, const findings& f) {
  std::size_t all = 0;
  for (const auto& [name, text] : f.outputs) {
    const std::size_t n = hits(text);
    all += n;
    EXPECT_EQ(n, 0u) << name << " shows the bait:\n" << text.substr(0, 2'000);
    EXPECT_FALSE(text.empty()) << name << " is empty, so nothing was looked at";
  }
  std::cout << "## canary " << what << ": error paths " << f.paths << " hits " << all << "\n";
}

class Canary : public testing::Test {
protected:
  reactor::loop l{reactor::loop::mode::simulated, 77};
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();

  std::string logged() const {
    std::string all;
    for (const reactor::log_record& r : log->records())
      all += reactor::format_json(r) + "\n" + reactor::format_console(r, true) + "\n";
    return all;
  }
};

}  // namespace canary_run
