#pragma once

#include "formats/base64.hpp"
#include "tests/k8s/scripted_server.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace k8s {

/// Enough of an API server to engage it, with Secrets in the namespace "default" that can be listed
/// and watched.
class api_server {
public:
  api_server(reactor::loop& l, const std::string& host) : server(l, {host, 6443}), host_(host) {
    server.otherwise([this](const scripted_server::received& r) { return reply(r); });
  }

  /// A labelled Secret whose key `kubeconfig` holds `bytes`.
  void put(const std::string& name, const std::string& bytes,
           const std::string& annotations = "{}") {
    const bool known = secrets_.contains(name);
    secrets_[name] = object(name, bytes, annotations, ++version_);
    server.push(secrets_path, watch_line(known ? "MODIFIED" : "ADDED", secrets_[name]));
  }
  void remove(const std::string& name) {
    const std::string last = secrets_[name];
    secrets_.erase(name);
    const auto at = last.find("\"resourceVersion\":\"") + 19;
    server.push(secrets_path,
                watch_line("DELETED", last.substr(0, at) + std::to_string(++version_) +
                                          last.substr(last.find('"', at))));
  }

  scripted_server server;
  bool unauthorized = false;
  std::set<std::string> refused_tokens;  // answered with 401
  std::string uid;                       // of kube-system; made from the host unless set
  /// The Events of kube-system by name: what they say. Servers that are one share them.
  using event_texts = std::map<std::string, std::string>;
  std::shared_ptr<event_texts> events = std::make_shared<event_texts>();
  /// Asked about these before they are; none: as they are.
  std::function<std::optional<answer>(const scripted_server::received&)> about_events;
  /// A verb on Secrets that the account lacks ("list", "watch"), refused as RBAC does.
  std::string refuses;

private:
  static constexpr const char* secrets_path = "/api/v1/namespaces/default/secrets";

  std::string object(const std::string& name, const std::string& bytes,
                     const std::string& annotations, int version) {
    if (!uids_.contains(name)) uids_[name] = "secret-" + std::to_string(++last_uid_);
    return R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":")" + name +
           R"(","namespace":"default","uid":")" + uids_[name] + R"(","resourceVersion":")" +
           std::to_string(version) + R"(","annotations":)" + annotations +
           R"(},"data":{"kubeconfig":")" + formats::encode_base64(bytes) + "\"}}";
  }

  answer reply(const scripted_server::received& r) {
    if (unauthorized || refused_tokens.contains(token_of(r)))
      return answer::failure(401, "Unauthorized", "Unauthorized");
    const auto asks = [&](const char* path) { return r.target.starts_with(path); };
    if (asks("/version")) {
      return answer::json(200, R"({"major":"1","minor":"31","gitVersion":"v1.31.0"})");
    }
    if (asks("/apis/events.k8s.io")) return answer::json(201, R"({"kind":"Event"})");
    if (asks("/apis")) return answer::json(200, R"({"kind":"APIGroupList","groups":[]})");
    if (asks("/api/v1/namespaces/kube-system/events")) return event(r);
    if (asks("/api/v1/namespaces/kube-system")) {
      return answer::json(200, R"({"kind":"Namespace","metadata":{"name":"kube-system","uid":")" +
                                   (uid.empty() ? "uid-of-" + host_ : uid) + "\"}}");
    }
    if (asks((std::string(secrets_path) + "/").c_str())) {
      const auto one = secrets_.find(r.target.substr(std::string(secrets_path).size() + 1));
      return one == secrets_.end() ? answer::failure(404, "NotFound", "not found")
                                   : answer::json(200, one->second);
    }
    const bool watches = asks((std::string(secrets_path) + "?watch").c_str());
    if (asks(secrets_path) && refuses == (watches ? "watch" : "list"))
      return answer::failure(
          403, "Forbidden",
          "secrets is forbidden: User \"system:serviceaccount:os:windlass\" cannot " + refuses +
              " resource \"secrets\" in API group \"\" in the namespace \"default\"");
    if (watches) {
      if (r.target.find("sendInitialEvents") != std::string::npos) {
        return answer::failure(422, "Invalid", "sendInitialEvents is forbidden");
      }
      // No history is kept: whoever missed something lists again.
      const std::string from = "resourceVersion=" + std::to_string(version_);
      if (r.target.find(from) == std::string::npos) {
        return answer::failure(410, "Expired", "too old resource version");
      }
      return answer::stream().stay_open();
    }
    if (asks(secrets_path)) {
      std::string items;
      for (const auto& [name, text] : secrets_) items += (items.empty() ? "" : ",") + text;
      return answer::json(
          200, R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                   std::to_string(version_) + R"("},"items":[)" + items + "]}");
    }
    if (asks("/api")) return answer::json(200, R"({"kind":"APIVersions","versions":["v1"]})");
    return answer::failure(404, "NotFound", "not found");
  }

  static std::string token_of(const scripted_server::received& r) {
    const std::string said(r.fields.get("Authorization")), bearer = "Bearer ";
    return said.starts_with(bearer) ? said.substr(bearer.size()) : std::string();
  }

  answer event(const scripted_server::received& r) {
    if (about_events)
      if (auto said = about_events(r)) return *said;
    boost::json::object body = boost::json::parse(r.body).as_object();
    if (r.method == "POST") {
      const auto& name = body.at("metadata").as_object().at("name").as_string();
      events->emplace(std::string(name), std::string(body.at("message").as_string()));
      return answer::json(201, boost::json::serialize(body));
    }
    const std::string path = r.target.substr(0, r.target.find('?'));
    const auto found = events->find(path.substr(path.rfind('/') + 1));
    if (found == events->end()) return answer::failure(404, "NotFound", "not found");
    body["kind"] = "Event";
    body["message"] = found->second;
    return answer::json(200, boost::json::serialize(body));
  }

  std::string host_;
  std::map<std::string, std::string> secrets_, uids_;
  int version_ = 10, last_uid_ = 0;
};

}  // namespace k8s
