#include "bench/watched/peers.hpp"

#include "bench/measure.hpp"
#include "bench/peer_program.hpp"
#include "bench/quiet_server.hpp"
#include "bench/watched/reader.hpp"
#include "bench/watched/reading.hpp"
#include "bench/watched/server.hpp"
#include "reactor/system/private_folder.hpp"

#include <boost/json.hpp>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::size_t objects_of_a_cluster = 50, objects_of_a_stream = 10,
                      objects_with_events = 500;
constexpr auto patience = 300s;  // for an answer
/// What the server can send beside a client that takes half a core.
constexpr double most_per_second = 20'000;

/// In the order in which they are told.
struct figure {
  const char *name, *unit;
  bool more_is_better = false;
};
constexpr figure figures[] = {
    {"cpu_us_per_event", "µs of processor time for an event of an 8-KB pod"},
    {"cpu_us_per_node_event", "µs of processor time for an event of a Node with 50 images"},
    {"bytes_per_object", "bytes resident for each 8-KB pod"},
    {"relist_peak_ratio", "most memory while all is listed again, by what it is before"},
    {"p50_us", "µs from sending to handler, one stream, all clients at the same load"},
    {"p99_us", "µs, 99 % of them"},
    {"p999_us", "µs, 99.9 % of them"},
    {"many_p99_us", "µs, 99 % of them, many streams, all clients at the same load"},
    {"many_p999_us", "µs, 99.9 % of them"},
    {"half_load_p99_us", "µs, 99 % of them, one stream that takes half a core of this client"},
    {"half_load_per_second", "events a second at that load (more is better)", true},
    {"many_half_load_p99_us", "µs, 99 % of them, many streams that take half a core"},
    {"many_half_load_p999_us", "µs, 99.9 % of them"},
    {"kib_per_cluster", "KiB resident for a cluster with one collection of 50 pods"},
    {"synced_s", "seconds from start until every cluster has synced"},
    {"sync_cpu_s", "seconds of processor time for that"},
    {"idle_cpu_percent", "% of a core while nothing happens"},
    {"requests_per_cluster_minute", "requests while nothing happens"},
    {"storm_s", "seconds from cutting every connection until all watches are back"},
    {"storm_cpu_s", "seconds of processor time for that"},
};

/// One client and what was read of it so far.
struct contender {
  corpus_client who;
  std::string version, runtime;
  std::map<std::string, std::vector<double>, std::less<>> seen;
  std::vector<std::string> failures;

  void note(std::string_view name, double value) { seen[std::string(name)].push_back(value); }
  double last(std::string_view name) const {
    const auto found = seen.find(name);
    return found == seen.end() ? 0 : found->second.back();
  }
};

/// The corpora as protobuf, written once by the Go program.
class encoded_corpora {
public:
  explicit encoded_corpora(std::string encoder) : encoder_(std::move(encoder)), folder_("bench") {}

  /// A file with at least so many objects.
  std::string file(const std::string& of, bool metadata_only, std::size_t objects) {
    const char* how = metadata_only ? "metadata" : "typed";
    const std::string stem = folder_.path() + "/" + of + "-" + how + "-" + std::to_string(objects);
    if (std::ifstream(stem)) return stem;
    const std::string lines = stem + ".json";
    {
      std::ofstream out(lines);
      for (std::size_t i = 0; i < objects; ++i) out << collection_called(of).object(i) << '\n';
    }
    auto encoding = child::start_program(
        {"sh", "-c", R"("$0" encode "$1" "$2" < "$3" > "$4")", encoder_, how, of, lines, stem});
    if (!encoding || encoding->wait() != 0)
      throw std::runtime_error("the corpus cannot be encoded as protobuf");
    return stem;
  }

private:
  std::string encoder_;
  reactor::private_folder folder_;
};

class contest {
public:
  contest(const peers_effort& e, encoded_corpora& encoded) : effort_(e), encoded_(encoded) {}

  /// Each measurement of all clients, one after the other, so that what else the machine does meets
  /// all of them.
  void run(std::vector<contender>& all) {
    for_each(all, &contest::read_pods);
    for_each(all, &contest::read_nodes);
    for_each(all, &contest::hold_objects);
    for_each(all, &contest::keep_fleet);
    if (per_second_ == 0) {
      double slowest = 0;
      for (const contender& c : all) slowest = std::max(slowest, c.last("cpu_us_per_event"));
      per_second_ = rounded(std::min(most_per_second, 0.5e6 / std::max(1.0, slowest)), 0);
    }
    for_each(all, &contest::wait_for_one);
    for_each(all, &contest::wait_for_many);
  }
  /// Of the latencies of all: half of what the slowest client of the first run takes.
  double per_second() const { return per_second_; }

private:
  static bool is_floor(const contender& c) { return c.who.how == floor_client().how; }
  static double number(const json::object& o, const char* key) {
    return o.at(key).to_number<double>();
  }
  static double half_load(const json::object& paced) {
    return std::min(most_per_second, 0.5e6 / std::max(1.0, number(paced, "cpu_us_per_event")));
  }
  void for_each(std::vector<contender>& all, void (contest::*measure)(contender&)) {
    for (contender& c : all) try {
        if (is_floor(c) && measure != &contest::read_pods && measure != &contest::read_nodes)
          continue;
        (this->*measure)(c);
      } catch (const std::exception& e) {
        if (std::ranges::find(c.failures, e.what()) == c.failures.end())
          c.failures.emplace_back(e.what());
      }
  }
  served_corpus corpus(const contender& c, const char* of, std::size_t objects) {
    served_corpus s;
    s.collection = of;
    s.objects = objects;
    s.form.protobuf = c.who.encoding == "protobuf";
    s.form.metadata_only = c.who.metadata_only;
    if (s.form.protobuf) s.encoded = encoded_.file(of, c.who.metadata_only, objects);
    return s;
  }
  static json::object answer_of(contender& c, corpus_reading& r) {
    json::object said = r.answer(patience);
    c.version = std::string(said.at("version").as_string());
    c.runtime = std::string(said.at("runtime").as_string());
    return said;
  }
  json::object read_events(contender& c, const char* of) {
    served_corpus s = corpus(c, of, objects_with_events);
    s.events = effort_.events;
    corpus_reading r(c.who, "events", s, 1);
    return answer_of(c, r);
  }
  json::object read_paced(contender& c, std::size_t streams, double per_second) {
    served_corpus s = corpus(c, "pods", streams == 1 ? objects_with_events : objects_of_a_stream);
    s.streams = streams;
    s.per_second = per_second;
    const auto each =
        static_cast<std::size_t>(per_second * effort_.seconds / static_cast<double>(streams));
    s.events = streams * std::max<std::size_t>(2, each);
    corpus_reading r(c.who, "events", s, streams);
    return answer_of(c, r);
  }

  void read_pods(contender& c) {
    c.note("cpu_us_per_event", number(read_events(c, "pods"), "cpu_us_per_event"));
  }
  void read_nodes(contender& c) {
    c.note("cpu_us_per_node_event", number(read_events(c, "nodes"), "cpu_us_per_event"));
  }
  void wait_for_one(contender& c) {
    const json::object one = read_paced(c, 1, per_second_);
    c.note("p50_us", number(one, "p50_us"));
    c.note("p99_us", number(one, "p99_us"));
    c.note("p999_us", number(one, "p999_us"));
    const double half = half_load(one);
    c.note("half_load_per_second", half);
    c.note("half_load_p99_us", number(read_paced(c, 1, half), "p99_us"));
  }
  void wait_for_many(contender& c) {
    const json::object many = read_paced(c, effort_.streams, per_second_);
    c.note("many_p99_us", number(many, "p99_us"));
    c.note("many_p999_us", number(many, "p999_us"));
    const json::object at_half = read_paced(c, effort_.streams, half_load(many));
    c.note("many_half_load_p99_us", number(at_half, "p99_us"));
    c.note("many_half_load_p999_us", number(at_half, "p999_us"));
  }

  /// Until as many watches are open as before the order.
  static double recovered(corpus_reading& r) {
    for (auto left = 120'000ms; left > 0ms; left -= 100ms) {
      std::this_thread::sleep_for(100ms);
      const json::object state = r.ask_server("GET", "/state");
      if (!state.at("recovered_s").is_null()) return number(state, "recovered_s");
    }
    throw std::runtime_error("not every watch came back within two minutes");
  }

  void hold_objects(contender& c) {
    double few = 0;
    {
      corpus_reading r(c.who, "fleet", corpus(c, "pods", 1), 1);
      (void)answer_of(c, r);
      few = r.resident();
    }
    corpus_reading r(c.who, "fleet", corpus(c, "pods", effort_.objects), 1);
    (void)answer_of(c, r);
    const double all = std::max(1.0, r.resident() - few);
    c.note("bytes_per_object", all / static_cast<double>(effort_.objects));
    r.forget_peak();
    (void)r.ask_server("POST", "/expire");
    (void)recovered(r);
    c.note("relist_peak_ratio", (r.peak() - few) / all);
  }

  void keep_fleet(contender& c) {
    double one = 0;
    {
      corpus_reading r(c.who, "fleet", corpus(c, "pods", objects_of_a_cluster), 1);
      (void)answer_of(c, r);
      one = r.resident();
    }
    const double clusters = static_cast<double>(effort_.clusters);
    corpus_reading r(c.who, "fleet", corpus(c, "pods", objects_of_a_cluster), effort_.clusters);
    const json::object said = answer_of(c, r);
    c.note("synced_s", number(said, "synced_s"));
    c.note("sync_cpu_s", number(said, "sync_cpu_s"));
    c.note("kib_per_cluster", (r.resident() - one) / 1024 / (clusters - 1));
    std::this_thread::sleep_for(1s);  // the last watches are opened
    const double requests = number(r.ask_server("GET", "/state"), "requests");
    const double cpu = r.cpu_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(effort_.seconds));
    c.note("idle_cpu_percent", (r.cpu_seconds() - cpu) * 100 / effort_.seconds);
    c.note("requests_per_cluster_minute",
           (number(r.ask_server("GET", "/state"), "requests") - requests) / clusters * 60 /
               effort_.seconds);
    const double before = r.cpu_seconds();
    (void)r.ask_server("POST", "/cut");
    c.note("storm_s", recovered(r));
    c.note("storm_cpu_s", r.cpu_seconds() - before);
  }

  peers_effort effort_;
  encoded_corpora& encoded_;
  double per_second_ = 0;
};

std::vector<contender> all_contenders(json::object& skipped, std::string& encoder) {
  std::vector<contender> all;
  const auto add = [&](corpus_client c) { all.emplace_back().who = std::move(c); };
  add(our_client());
  add(floor_client());
  const peer_program go = go_peer("peers/watch_go"), rust = rust_peer("peers/watch_rust");
  encoder = go.path;
  if (go.path.empty()) {
    skipped["client-go"] = skipped["controller-runtime"] = go.skipped;
  } else {
    add({"client-go typed", "json", go.path, "typed-json", false});
    add({"client-go typed", "protobuf", go.path, "typed-protobuf", false});
    add({"client-go dynamic", "json", go.path, "dynamic-json", false});
    add({"client-go metadata", "json", go.path, "metadata-json", true});
    add({"client-go metadata", "protobuf", go.path, "metadata-protobuf", true});
    add({"controller-runtime", "json", go.path, "cache-json", false});
    add({"controller-runtime", "protobuf", go.path, "cache-protobuf", false});
  }
  if (rust.path.empty()) {
    skipped["kube-rs"] = rust.skipped;
  } else {
    add({"kube-rs typed", "json", rust.path, "typed-json", false});
    add({"kube-rs metadata", "json", rust.path, "metadata-json", true});
  }
  return all;
}

double median_of(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

/// What a client is sent.
const char* sent_to(const corpus_client& c) {
  return c.metadata_only ? "metadata" : c.encoding == "protobuf" ? "protobuf" : "json";
}

json::object point_of(const figure& f, const contender& c, const std::vector<double>& values) {
  json::object p{{"figure", f.name}, {"client", c.who.client}, {"encoding", c.who.encoding}};
  p["min"] = rounded(std::ranges::min(values), 3);
  p["median"] = rounded(median_of(values), 3);
  p["max"] = rounded(std::ranges::max(values), 3);
  p["runs"] = values.size();
  p["version"] = c.version;
  p["runtime"] = c.runtime;
  p["unit"] = f.unit;
  return p;
}

/// all: this program, its floor, then the peers.
void tell(json::object& out, const std::vector<contender>& all) {
  json::object ratios;
  json::array points;
  for (const figure& f : figures) {
    double ours = 0;
    std::map<std::string, double> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = all[i].seen.find(f.name);
      if (found == all[i].seen.end()) continue;
      points.push_back(point_of(f, all[i], found->second));
      const double median = median_of(found->second);
      if (i == 0) ours = median;
      if (i < 2) continue;
      double& least = best[sent_to(all[i].who)];
      if (least == 0 || median < least) least = median;
    }
    json::object by_class;
    for (const auto& [sent, least] : best)
      if (ours > 0 && least > 0) by_class[sent] = rounded(least / ours);
    if (!by_class.empty() && !f.more_is_better) ratios[f.name] = std::move(by_class);
  }
  out["ratios"] = std::move(ratios);
  constexpr std::string_view event = "cpu_us_per_event";
  if (all[1].last(event) > 0)
    out["floor_ratio"] = rounded(median_of(all[0].seen.find(event)->second) /
                                 median_of(all[1].seen.find(event)->second));
  json::object failed;
  for (const contender& c : all)
    for (const std::string& f : c.failures) failed[c.who.client + " " + c.who.encoding] = f;
  if (!failed.empty()) out["failed"] = std::move(failed);
  out["points"] = std::move(points);
}

}  // namespace

json::object measure_peers(const peers_effort& how_much) {
  allow_many_descriptors();
  pin_to_core(0);
  // Lists are lists: what client-go asks for instead by default no server here answers.
  setenv("KUBE_FEATURE_WatchListClient", "false", 1);
  json::object out = environment(), skipped;
  std::string encoder;
  std::vector<contender> all = all_contenders(skipped, encoder);
  encoded_corpora encoded(encoder);
  contest between(how_much, encoded);
  for (unsigned run = 0; run < how_much.runs; ++run) between.run(all);
  if (!all.front().failures.empty()) throw std::runtime_error(all.front().failures.front());
  out["runs"] = how_much.runs;
  out["events"] = how_much.events;
  out["objects"] = how_much.objects;
  out["clusters"] = how_much.clusters;
  out["streams"] = how_much.streams;
  out["seconds"] = how_much.seconds;
  out["latency_events_per_second"] = between.per_second();
  if (!skipped.empty()) out["skipped"] = std::move(skipped);
  tell(out, all);
  return out;
}

json::object measure_collection(std::string_view collection, std::size_t events) {
  json::object o{{"collection", collection}, {"tls", true}, {"events", events}};
  for (const bool drops : {false, true}) {
    served_corpus s;
    s.collection = std::string(collection);
    s.objects = objects_with_events;
    s.events = events;
    s.form.without_managers = drops;
    corpus_reading r(our_client(), "events", s, 1);
    const json::object said = r.answer(patience);
    const std::string with = drops ? "_without_managers" : "";
    o["event_bytes" + with] = r.ask_server("GET", "/state").at("event_bytes");
    for (const char* figure : {"cpu_us_per_event", "wall_us_per_event"})
      o[figure + with] = rounded(said.at(figure).to_number<double>());
  }
  const auto ratio = [&](const std::string& of) {
    return rounded(o.at(of).to_number<double>() /
                   o.at(of + "_without_managers").to_number<double>());
  };
  o["bytes_ratio"] = ratio("event_bytes");
  o["cpu_ratio"] = ratio("cpu_us_per_event");
  return o;
}

int run_peers_side(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (!words.empty() && words.front() == "read") {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return run_corpus_reader({words.begin() + 1, words.end()});
  }
  constexpr std::string_view serve = "serve ";
  return text.starts_with(serve) ? run_corpus_server(text.substr(serve.size())) : 2;
}

}  // namespace bench
