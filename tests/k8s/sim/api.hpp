#pragma once

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/subscription.hpp"
#include "reactor/plain/entropy.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace k8s::sim {

inline constexpr std::string_view config_maps_path = "/api/v1/namespaces/default/configmaps";

/// An API server with a clock and entropy of its own, and short ways to talk to it.
struct bench_api {
  explicit bench_api(std::function<void(api_options&)> adjust = {}) : api(make(adjust)) {}

  struct reply {
    int status = 0;
    boost::json::value body;
    std::string text;
    answer raw;
    std::string_view at(std::string_view pointer) const {
      boost::system::error_code none;
      const boost::json::value* v = body.find_pointer(pointer, none);
      return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
    }
    const boost::json::value* find(std::string_view pointer) const {
      boost::system::error_code none;
      return body.find_pointer(pointer, none);
    }
  };

  reply send(std::string method, std::string_view target, std::string body = {},
             std::string type = "application/json", std::string accept = "application/json") {
    request r = make_request(std::move(method), target, std::move(body), std::move(type));
    r.fields.set("Accept", accept);
    r.fields.set("User-Agent", "tester/1.0");
    reply out;
    out.raw = api.handle(r);
    out.status = out.raw.status;
    out.text = out.raw.body;
    boost::system::error_code code;
    out.body = boost::json::parse(out.text, code);
    return out;
  }
  reply get(std::string_view target) { return send("GET", target); }
  reply post(std::string_view target, std::string body) {
    return send("POST", target, std::move(body));
  }
  reply merge(std::string_view target, std::string body) {
    return send("PATCH", target, std::move(body), "application/merge-patch+json");
  }
  reply apply(std::string_view target, std::string body) {
    return send("PATCH", target, std::move(body), "application/apply-patch+yaml");
  }
  reply remove(std::string_view target, std::string body = {}) {
    return send("DELETE", target, std::move(body));
  }
  std::shared_ptr<subscription> watch(std::string_view target) {
    return send("GET", target).raw.watch;
  }

  reactor::steady_time steady{};
  reactor::wall_time wall{std::chrono::seconds(1'800'000'000)};
  reactor::seeded_entropy rng{7};
  api_server api;

private:
  api_options make(const std::function<void(api_options&)>& adjust) {
    api_options o;
    o.now = [this] { return steady; };
    o.wall = [this] { return wall; };
    o.entropy = &rng;
    if (adjust) adjust(o);
    return o;
  }
};

inline std::string config_map(std::string_view name, std::string_view value = "1") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
         R"("},"data":{"a":")" + std::string(value) + "\"}}";
}

inline std::string pod(std::string_view name, std::string_view node = "n1",
                       std::string_view app = "web") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + std::string(name) +
         R"(","labels":{"app":")" + std::string(app) + R"("}},"spec":{"nodeName":")" +
         std::string(node) + R"(","containers":[{"name":"c","image":"nginx:1"}]}})";
}

}  // namespace k8s::sim
