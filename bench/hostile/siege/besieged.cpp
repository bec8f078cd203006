#include "bench/hostile/siege/besieged.hpp"

#include "bench/child.hpp"
#include "bench/fleet/kept_port.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/hostile/server_host.hpp"
#include "bench/hostile/siege/fleet_authors.hpp"
#include "bench/hostile/siege/strangers.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/tenants/offer.hpp"
#include "formats/base64.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/plain/spawn.hpp"
#include "reactor/system/private_folder.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace bench::hostile {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
namespace fs = std::filesystem;

constexpr const char* told = "/told";  // what the surroundings say of themselves
constexpr const char* token = "bench-canary-token";
/// How long the good member's Tenant may take.
constexpr reactor::nanoseconds longest = 60s, beat_every = 50ms;

std::string beside_us(const char* program) {
  return fs::read_symlink("/proc/self/exe").parent_path() / program;
}

std::string kubeconfig_of(const std::string& url) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: {server: \"" +
         url + "\"}}]\nusers: [{name: u, user: {token: " + token + "}}]\n";
}

void put_kubeconfig(k8s::sim::api_server& home, const std::string& name, const std::string& url) {
  json::object o{{"apiVersion", "v1"}, {"kind", "Secret"}};
  o["metadata"] = json::object{
      {"name", name},
      {"namespace", "fleet"},
      {"labels", json::object{{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}};
  o["data"] = json::object{{"kubeconfig", formats::encode_base64(kubeconfig_of(url))}};
  home.put(std::move(o));
}

bool is_ready(const k8s::sim::api_server& on) {
  const auto t = on.get("mesh.openkcm.io", "tenants", "default", "t-0");
  const json::value* status = t ? t->if_contains("status") : nullptr;
  const json::value* phase = status ? status->as_object().if_contains("phase") : nullptr;
  return phase && phase->is_string() && phase->get_string() == "Ready";
}

}  // namespace

int run_surroundings(std::size_t stranger) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  allow_many_descriptors();
  const hostile::stranger& attacker = strangers().at(stranger);
  reactor::loop l;
  k8s::sim::api_server home(k8s::sim::options_on(l)), good(k8s::sim::options_on(l)),
      theirs(k8s::sim::options_on(l)), repository(k8s::sim::options_on(l)),
      registry(k8s::sim::options_on(l)), elsewhere(k8s::sim::options_on(l));
  const k8s::sim::server::settings anywhere{{"127.0.0.1", 0}, nullptr};
  // Charts come from registries by TLS alone.
  auto proof = std::make_shared<reactor::tls_server_settings>();
  proof->certificate_pem = good_certificate().certificate_pem;
  proof->key_pem = good_certificate().key_pem;
  k8s::sim::server front(l, anywhere), other(l, anywhere),
      oci(l, k8s::sim::server::settings{{"127.0.0.1", 0}, proof});
  for (auto& [api, prefix] : std::map<k8s::sim::api_server*, std::string>{
           {&home, "/home"}, {&good, "/good"}, {&theirs, "/theirs"}, {&repository, "/charts"}})
    front.add(*api, prefix);
  other.add(elsewhere);
  oci.add(registry);
  if (!front.start() || !other.start() || !oci.start()) return 1;
  surroundings all{home,       good, theirs, repository, registry, front.url("/charts") + "/charts",
                   other.url()};
  for (const char* ns : {"fleet", "bootc-operator"}) {
    json::object o{{"apiVersion", "v1"}, {"kind", "Namespace"}};
    o["metadata"] = json::object{{"name", ns}};
    home.put(std::move(o));
  }
  furnish(all);
  bench::furnish(home, 0);
  bench::furnish(good, 1);
  bench::furnish(theirs, 1);
  const chart_offer charts;
  repository.before = [&](const k8s::sim::request& r) { return charts.answer(r); };
  std::vector<std::string> shown;
  elsewhere.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (k8s::sim::presents_token(r)) shown.push_back("a token");
    k8s::sim::answer a;
    a.status = 404;
    return a;
  };
  put_kubeconfig(home, "good", front.url("/good"));
  put_kubeconfig(home, "theirs", front.url("/theirs"));
  attacker.begin(all);
  std::size_t asked = 0;
  registry.before = [&asked, answers = registry.before](const k8s::sim::request& r) {
    ++asked;
    return answers ? answers(r) : std::nullopt;
  };
  home.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (r.path != told) return std::nullopt;
    k8s::sim::answer a;
    a.body = json::serialize(json::object{{"damage", damage_to(all, shown)},
                                          {"ready", is_ready(good) && is_own_chart_ready(home)},
                                          {"asked", asked},
                                          {"authority", authority().certificate_pem}});
    return a;
  };
  reactor::task_group tasks(l);
  const auto beats = [&]() -> reactor::awaitable<void> {
    for (;;) {
      co_await l.sleep_for(beat_every);
      if (all.beat) all.beat();
    }
  };
  tasks.start("beats", beats());
  std::printf("%s %s\n", front.url("/home").c_str(), oci.local().text().c_str());
  std::fflush(stdout);
  l.run();
  return 0;
}

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A line of /proc/PID/status in bytes: "RssAnon:".
std::size_t bytes_in(const std::string& status, const std::string& name) {
  const auto at = status.find(name);
  return at == status.npos ? 0
                           : std::strtoull(status.c_str() + at + name.size(), nullptr, 10) * 1024;
}

/// What is resident of a process and its children, the program's own pages once.
std::size_t resident_of(pid_t pid) {
  const std::string of = "/proc/" + std::to_string(pid);
  std::size_t all = bytes_in(text_of(of + "/status"), "VmRSS:");
  std::istringstream children(text_of(of + "/task/" + std::to_string(pid) + "/children"));
  for (int one = 0; children >> one;)
    all += bytes_in(text_of("/proc/" + std::to_string(one) + "/status"), "RssAnon:");
  return all;
}

class siege {
public:
  siege(reactor::loop& l, std::size_t stranger, const memory_group* group)
      : loop_(l), attacker_(strangers().at(stranger)), group_(group), folder_("siege") {
    auto around = child::start_program({beside_us("windlass-bench"), "hostile", "--sender",
                                        "surroundings " + std::to_string(stranger)});
    if (!around) throw std::runtime_error(around.error().message());
    std::istringstream where(around->read_line());
    if (!(where >> home_ >> registry_))
      throw std::runtime_error("what surrounds the service did not come up");
    around_.emplace(std::move(*around));
  }

  reactor::awaitable<void> go(siege_outcome& out, reactor::nanoseconds at_work) {
    const json::object around = co_await ask(home_, told);
    begin(around);
    const reactor::steady_time began = loop_.now();
    bool lives = true, is_good = false, is_up = false;
    while (lives && loop_.now() < began + longest) {
      co_await loop_.sleep_for(50ms);
      if (!is_up) {  // how long its own start takes is no stranger's work
        const std::string first = co_await fetch(service_.number(), "/metrics");
        is_up = !first.empty();
      }
      out.rss_mb = std::max(out.rss_mb, megabytes(resident_of(pid_)));
      lives = ::waitpid(pid_, nullptr, WNOHANG) == 0;
      if (loop_.now() < began + at_work) continue;
      is_good = co_await all_is_well();
      if (is_good) break;
    }
    if (!lives) {
      pid_ = -1;
      out.damage = "the service ended: " + last_lines();
      co_return;
    }
    out.stood = is_good;
    const std::string metrics = co_await fetch(service_.number(), "/metrics");
    read_metrics(metrics, out);
    const reactor::steady_time stopped = loop_.now();
    ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (loop_.now() > stopped + 30s) ::kill(pid_, SIGKILL);
      co_await loop_.sleep_for(10ms);
    }
    pid_ = -1;
    out.stop_s = seconds_of(loop_.now() - stopped);
    const json::object said = co_await ask(home_, told);
    const json::value* damage = said.if_contains("damage");
    out.damage = damage ? std::string(damage->as_string()) : "the surroundings are gone";
    if (!out.stood) out.damage += "; others were not served: " + last_lines();
  }
  ~siege() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  siege(const siege&) = delete;
  siege& operator=(const siege&) = delete;

private:
  void begin(const json::object& around) {
    const fs::path trusted = fs::path(folder_.path()) / "authority.pem";
    if (const json::value* pem = around.if_contains("authority"))
      std::ofstream(trusted) << std::string_view(pem->as_string());
    const fs::path kubeconfig = fs::path(folder_.path()) / "kubeconfig";
    std::ofstream(kubeconfig) << kubeconfig_of(home_);
    const std::string charts = attacker_.is_oci
                                   ? "oci://" + registry_ + "/charts"
                                   : home_.substr(0, home_.rfind('/')) + "/charts/charts";
    reactor::spawn_request r;
    if (group_) r.argv = {"/bin/sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", group_->entrance()};
    const std::vector<std::string> program{beside_us("windlass"),
                                           "run",
                                           "--kubeconfig",
                                           kubeconfig,
                                           "--fleet",
                                           "secrets",
                                           "--namespace",
                                           "fleet",
                                           "--apis",
                                           "bootc,releases,compose,tenants,kryptondeployments,"
                                           "fleetpools,fleetcharts",
                                           "--leader-elect",
                                           "--tenant-drift",
                                           "heal",
                                           "--record",
                                           fs::path(folder_.path()) / "record",
                                           "--ui",
                                           page_.address(),
                                           "--ensure-watch-crds",
                                           "--no-self-cluster",
                                           "--chart-repo",
                                           charts,
                                           "--chart-name",
                                           attacker_.holds == stranger_kind::chart ? "demo" : "one",
                                           "--chart-version",
                                           attacker_.is_oci ? "" : "1.0.0",
                                           "--allow-insecure-registry",
                                           registry_,
                                           "--metrics-bind-address",
                                           service_.address(),
                                           "--health-probe-bind-address",
                                           probes_.address()};
    r.argv.insert(r.argv.end(), program.begin(), program.end());
    r.environment.emplace();
    // Once: of two a program takes the first, and the shell that enters a group the last.
    constexpr std::string_view trust = "SSL_CERT_FILE=";
    for (char** one = environ; *one; ++one)
      if (!std::string_view(*one).starts_with(trust)) r.environment->emplace_back(*one);
    r.environment->push_back(std::string(trust) + trusted.string());
    const int log = ::open(log_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    r.out = r.err = log;
    auto started = reactor::spawn(std::move(r));
    ::close(log);
    if (!started) throw std::runtime_error(started.error().message());
    pid_ = *started;
  }
  std::string log_file() const { return folder_.path() + "/log"; }
  /// For a person who looks why the service did not stand.
  std::string last_lines() const {
    constexpr std::size_t shown = 3'000;
    const std::string all = text_of(log_file());
    return all.size() > shown ? all.substr(all.size() - shown) : all;
  }

  /// Others are as well as they can be.
  reactor::awaitable<bool> all_is_well() {
    const std::string clusters = co_await fetch(probes_.number(), "/clusters");
    boost::system::error_code bad;
    const json::value v = json::parse(clusters, bad);
    bool is_live = false;
    if (!bad) {
      const json::value* all = v.is_object() ? v.get_object().if_contains("clusters") : &v;
      if (all && all->is_array())
        for (const json::value& c : all->get_array())
          is_live = is_live || (c.at("name") == "good" && c.at("state") == "Live");
    }
    const bool has_chart = attacker_.holds == stranger_kind::tenant ||
                           attacker_.holds == stranger_kind::member ||
                           attacker_.holds == stranger_kind::fleet_author;
    if (!is_live || (!has_chart && !attacker_.is_oci)) co_return is_live;
    const json::object said = co_await ask(home_, told);
    // A registry that was never asked tried nothing.
    const json::value* asked = said.if_contains("asked");
    if (attacker_.is_oci) co_return asked && asked->is_int64() && asked->get_int64() > 0;
    const json::value* ready = said.if_contains("ready");
    co_return ready && ready->is_bool() && ready->get_bool();
  }

  reactor::awaitable<std::string> fetch(std::uint16_t port, std::string target) {
    reactor::http::client_options o;
    o.origin = {false, "127.0.0.1", port};
    reactor::http::client asking(loop_, std::move(o));
    reactor::http::request r;
    r.method = "GET";
    r.target = std::move(target);
    auto said = co_await asking.fetch(std::move(r));
    co_await asking.stop();
    co_return said ? said->body : std::string();
  }
  reactor::awaitable<json::object> ask(std::string url, std::string path) {
    std::string prefix;
    const auto to = reactor::http::parse_origin(url, &prefix);
    const std::string said = co_await fetch(to ? to->port : std::uint16_t{0}, prefix + path);
    boost::system::error_code bad;
    json::value v = json::parse(said, bad);
    co_return bad || !v.is_object() ? json::object() : v.get_object();
  }

  static void read_metrics(const std::string& text, siege_outcome& out) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const double value = std::strtod(line.c_str() + line.rfind(' ') + 1, nullptr);
      if (line.starts_with("windlass_loop_longest_stall_seconds")) out.stall_ms = value * 1e3;
      if (!line.starts_with("windlass_children_ended_total{")) continue;
      const auto from = line.find("reason=\"") + 8;
      for (int i = 0; i < static_cast<int>(value); ++i)
        out.children_ended.push_back(line.substr(from, line.find('"', from) - from));
    }
  }

  reactor::loop& loop_;
  const stranger& attacker_;
  const memory_group* const group_;
  reactor::private_folder folder_;
  std::optional<child> around_;
  std::string home_, registry_;
  kept_port service_, probes_, page_;
  pid_t pid_ = -1;
};

}  // namespace

siege_outcome besiege(std::size_t stranger, reactor::nanoseconds at_work,
                      const memory_group* group) {
  siege_outcome out;
  reactor::loop l;
  run_on(l, [&]() -> reactor::awaitable<void> {
    siege one(l, stranger, group);
    co_await one.go(out, at_work);
  });
  if (group) {
    out.group_mb = megabytes(group->peak_bytes());
    out.killed = group->kills();
  }
  return out;
}

}  // namespace bench::hostile
