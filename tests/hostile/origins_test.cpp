// A server that was given credentials sends each of our clients to another server, in each way that
// HTTP, registries and chart repositories have, and the other one notes what it is shown: a header,
// a client certificate, a request without verification.
#include "helm/sources/locate.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/authorization.hpp"
#include "registry/auth.hpp"
#include "registry/client.hpp"
#include "registry/tag_reader.hpp"
#include "tests/reactor/http/test_certificates.hpp"
#include "tests/registry/fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace {

using reactor::awaitable;
using reactor::http::request;
using reactor::http::response;
using registry::respond;
using registry::told_server;

constexpr const char *password = "canary-pass-6203", *identity = "canary-identity-1177";
constexpr const char* digest =
    "sha256:0000000000000000000000000000000000000000000000000000000000000000";

enum class login { basic, identity_token };

/// What the server does with a request that has shown its credentials, or its challenge.
struct way {
  std::string name;
  std::function<response(const request&)> answer;
  std::string challenge = "Basic realm=\"own\"";
  login with = login::basic;
  bool leads_there = true;  // some client follows it; without credentials
};

response redirect(int status, const std::string& to) {
  return respond(status, "", {{"Location", to}});
}
const std::string other = "https://other";

std::vector<way> ways() {
  const auto moved = [](int status) {
    return [status](const request& r) { return redirect(status, other + r.target); };
  };
  const auto bearer = [](const std::string& realm) {
    return "Bearer realm=\"" + realm + "\",service=\"own\",scope=\"repository:p/app:pull\"";
  };
  const auto tokens_move = [](const request& r) {
    return r.target.starts_with("/token") ? redirect(307, other + r.target) : respond(200, "{}");
  };
  const auto index_of = [](const std::string& url) {
    return [url](const request& r) {
      if (!r.target.starts_with("/index.yaml")) return respond(404);
      return respond(200,
                     "apiVersion: v1\nentries:\n  app:\n  - {apiVersion: v2, name: app, version: "
                     "1.0.0, urls: ['" +
                         url + "']}\n");
    };
  };
  return {
      {"a redirect 301", moved(301)},
      {"a redirect 302", moved(302)},
      {"a redirect 307", moved(307)},
      {"a redirect 308", moved(308)},
      {"a redirect without a scheme",
       [](const request& r) { return redirect(307, "//other" + r.target); }},
      {"a redirect to another port of the same name",
       [](const request& r) { return redirect(307, "https://reg:444" + r.target); }},
      {"a redirect with a user of its own",
       [](const request& r) { return redirect(307, "https://reg@other" + r.target); }},
      {"a Link to another server",
       [](const request&) {
         return respond(200, R"({"tags":["1"]})",
                        {{"Link", "<" + other + "/v2/p/app/tags/list?n=1>; rel=\"next\""}});
       },
       "Basic realm=\"own\"", login::basic, false},
      {"an upload at another server",
       [](const request& r) {
         if (r.method == "HEAD") return respond(404);
         return respond(202, "", {{"Location", other + "/v2/up/1"}});
       },
       "Basic realm=\"own\"", login::basic, false},
      {"a realm at another server", [](const request&) { return respond(200, "{}"); },
       bearer(other + "/token"), login::basic, false},
      {"a realm at another server, for an identity token",
       [](const request&) { return respond(200, "{}"); }, bearer(other + "/token"),
       login::identity_token},
      {"a realm that redirects", tokens_move, bearer("https://reg/token")},
      {"a realm that redirects, for an identity token", tokens_move, bearer("https://reg/token"),
       login::identity_token},
      {"an index of charts at another server", index_of(other + "/app-1.0.0.tgz")},
      {"an index of charts in another registry", index_of("oci://other/p/app:1.0.0")},
  };
}

/// Plays one client against `reg` and `other` on one network in memory.
class Origins : public registry::WebFixture {
protected:
  Origins() : authority_(l), foreign_(l, "foreign CA") {
    const auto own = authority_.issue({"person"});
    write("ca.pem", authority_.pem());
    write("person.pem", own.certificate_pem);
    write("person.key", own.key_pem);
  }

  registry::tls_choice tls() {
    registry::tls_choice t;
    t.skip_verify = skip_verify_;
    t.ca_file = path("ca.pem");
    t.certificate_file = path("person.pem");
    t.key_file = path("person.key");
    return t;
  }
  registry::registry_login login_of(const way& w) {
    registry::registry_login out;
    if (w.with == login::identity_token) {
      out.identity_token = reactor::secret(identity);
    } else {
      out.username = "me";
      out.password = reactor::secret(password);
    }
    return out;
  }
  registry::client_options options(const way& w) {
    registry::client_options o;
    o.given_for = "reg";
    o.tls = tls();
    o.login = login_of(w);
    return o;
  }

  using client = std::function<awaitable<void>(registry::web&, const way&)>;
  using asks = std::function<awaitable<void>(registry::client&)>;

  /// Asks the registry for something.
  client asking(asks what) {
    return [this, what](registry::web& w, const way& by) -> awaitable<void> {
      registry::client c(l, w, options(by));
      co_await what(c);
    };
  }

  std::vector<std::pair<std::string, client>> clients() {
    const registry::oci_reference at = *registry::parse_oci_reference("reg/p/app:1");
    std::vector<std::pair<std::string, client>> all;
    all.emplace_back("tags", asking([at](registry::client& c) -> awaitable<void> {
                       (void)co_await c.tags(at);
                     }));
    all.emplace_back("a digest", asking([at](registry::client& c) -> awaitable<void> {
                       (void)co_await c.current_digest(at, "");
                     }));
    all.emplace_back("a manifest", asking([at](registry::client& c) -> awaitable<void> {
                       (void)co_await c.manifest(at);
                     }));
    all.emplace_back("a blob", asking([at](registry::client& c) -> awaitable<void> {
                       registry::descriptor d{"application/x", digest, 2};
                       (void)co_await c.blob(at, std::move(d), 100);
                     }));
    all.emplace_back("an upload", asking([at](registry::client& c) -> awaitable<void> {
                       registry::descriptor d{"application/x", digest, 2};
                       (void)co_await c.put_blob(at, std::move(d), "ab");
                       registry::descriptor of_base{"application/x", digest, 2};
                       (void)co_await c.carry_blob(at, "p/base", std::move(of_base));
                       (void)co_await c.put_manifest(at, "{}");
                     }));
    all.emplace_back("a tag", [this](registry::web& w, const way& by) -> awaitable<void> {
      registry::tag_reader_options o;
      o.ca_file = path("ca.pem");
      registry::tag_reader reader(l, w, std::move(o));
      const auto config = registry::with_login("", "reg:443", login_of(by));
      auto pull = std::make_shared<registry::pull_secret>(
          registry::pull_secret{"1", reactor::secret(*config)});
      registry::image_ref of = *registry::parse_image_ref("reg:443/p/app:1");
      (void)co_await reader.digest_of(std::move(of), "", std::move(pull));
    });
    all.emplace_back("a chart of a registry", [this](registry::web&, const way& by) {
      return fetch_chart("oci://reg/p/app", by, "");
    });
    all.emplace_back("a chart of a repository", [this](registry::web&, const way& by) {
      return fetch_chart("app", by, "https://reg/");
    });
    all.emplace_back("a cluster", [this](registry::web&, const way&) -> awaitable<void> {
      k8s::connection to;
      to.server = "https://reg";
      to.ca.bytes = reactor::secret(authority_.pem());
      const auto own = authority_.issue({"person"});
      to.certificate.bytes = reactor::secret(own.certificate_pem);
      to.key.bytes = reactor::secret(own.key_pem);
      to.token.bytes = reactor::secret(password);
      k8s::client api(l, std::move(to), "test");
      k8s::object_key key{"ns", "a"};
      (void)co_await api.get(k8s::resources::pods(), std::move(key));
      co_await api.stop();
    });
    return all;
  }

  awaitable<void> fetch_chart(std::string reference, way by, std::string repo) {
    helm::sources::chart_source source(l, helm::sources::settings_from(env()), env());
    helm::sources::chart_origin how;
    how.repo_url = std::move(repo);
    how.tls = tls();
    if (by.with == login::basic) {
      how.username = "me";
      how.password = reactor::secret(password);
    }
    (void)co_await source.download(std::move(reference), std::move(how),
                                   helm::sources::provenance_use::none);
    co_await source.stop();
  }

  std::unique_ptr<reactor::tls_server_settings> serves(const reactor::test_authority& by,
                                                       const std::string& name) {
    auto out = std::make_unique<reactor::tls_server_settings>(by.server({name}));
    out->client_ca_pem = authority_.pem();
    return out;
  }

  struct outcome {
    bool given = false;    // the server itself was shown a credential
    bool reached = false;  // the other one was asked at all
    std::string leaked;    // what the other one saw of ours
  };
  outcome play(const client& c, const way& by) {
    outcome out;
    run([&]() -> awaitable<void> {
      told_server own(
          l, "reg", 443, [&](const request& r) { return own_answer(r, by); },
          serves(authority_, "reg"));
      told_server there(
          l, "other", 443, [](const request& r) { return others_answer(r); },
          serves(authority_, "other"));
      told_server port(
          l, "reg", 444, [](const request& r) { return others_answer(r); },
          serves(authority_, "reg"));
      registry::web w(l, env());
      co_await c(w, by);
      co_await w.stop();
      co_await own.stop();
      co_await there.stop();
      co_await port.stop();
      out.given =
          own.asked_with_authorization() || std::ranges::count(own.client_names, "person") > 0;
      for (const told_server* s : {&there, &port}) {
        out.reached = out.reached || !s->seen.empty();
        look(*s, out.leaked);
      }
    });
    return out;
  }

  static response own_answer(const request& r, const way& by) {
    const bool open = r.target.starts_with("/token");
    if (!open && !r.fields.has("Authorization"))
      return respond(401, "", {{"WWW-Authenticate", by.challenge}});
    return by.answer(r);
  }
  /// It would like to have credentials, and leads on.
  static response others_answer(const request& r) {
    if (r.target.find("tags/list") != r.target.npos)
      return respond(200, R"({"tags":["1"]})",
                     {{"Link", r.target.find("last=") == r.target.npos
                                   ? "</v2/p/app/tags/list?last=1>; rel=\"next\""
                                   : ""}});
    return respond(401, "{}", {{"WWW-Authenticate", "Basic realm=\"other\""}});
  }
  static void look(const told_server& s, std::string& leaked) {
    for (const request& r : s.seen) {
      if (r.fields.has("Authorization")) leaked += " authorization of " + r.target;
      for (const std::string& canary : {std::string(password), std::string(identity)})
        if (r.body.find(canary) != r.body.npos || r.target.find(canary) != r.target.npos)
          leaked += " " + canary;
    }
    for (const std::string& name : s.client_names)
      if (!name.empty()) leaked += " certificate of " + name;
  }

  reactor::test_authority authority_, foreign_;
  bool skip_verify_ = false;
};

TEST_F(Origins, NoCredentialGoesToAnotherServerWhateverTheFirstOneSays) {
  std::size_t cells = 0, leaks = 0;
  for (const way& by : ways()) {
    bool led = false, given = false;
    for (const auto& [name, c] : clients()) {
      const outcome o = play(c, by);
      ++cells;
      given = given || o.given;
      led = led || o.reached;
      leaks += o.leaked.empty() ? 0 : 1;
      EXPECT_EQ(o.leaked, "") << name << " by " << by.name;
    }
    EXPECT_EQ(led, by.leads_there) << by.name;
    EXPECT_TRUE(given) << by.name << ": the server itself is shown the credentials";
  }
  std::printf("## {\"origins\":{\"cells\":%zu,\"leaks\":%zu}}\n", cells, leaks);
}

TEST_F(Origins, AServerThatNeedNotBeVerifiedVouchesForNoOther) {
  for (const auto& [name, c] : clients()) {
    if (name == "a tag" || name == "a cluster") continue;  // never unverified, or never elsewhere
    const client& one = c;
    run([&]() -> awaitable<void> {
      way by = ways().front();
      told_server own(
          l, "reg", 443, [&](const request& r) { return own_answer(r, by); },
          serves(foreign_, "reg"));
      told_server there(
          l, "other", 443, [](const request& r) { return others_answer(r); },
          serves(foreign_, "other"));
      skip_verify_ = true;
      registry::web w(l, env());
      co_await one(w, by);
      co_await w.stop();
      co_await own.stop();
      co_await there.stop();
      skip_verify_ = false;
      EXPECT_FALSE(own.seen.empty()) << name;
      EXPECT_TRUE(there.seen.empty()) << name;
    });
  }
}

}  // namespace
