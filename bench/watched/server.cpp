#include "bench/watched/server.hpp"

#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t changing_objects = 500;  // at most so many of each stream have events
constexpr std::size_t chunk_bytes = 256 * 1024;
constexpr reactor::nanoseconds bookmarks_every = 1min;  // kube-apiserver's bookmarkFrequency

std::uint64_t version_now() {
  return corpus_version + static_cast<std::uint64_t>(monotonic() / 1us);
}

class corpus_server {
public:
  corpus_server(reactor::loop& l, served_corpus what, const std::string& encoded)
      : loop_(l),
        what_(std::move(what)),
        messages_(collection_called(what_.collection), what_.objects, what_.form, encoded),
        changed_(l) {}

  reactor::awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    const reactor::http::target_parts target = reactor::http::split_target(r.target);
    reactor::http::response out;
    out.status = 200;
    out.fields.add("Content-Type", "application/json");
    if (target.path == "/state") {
      out.body = state();
    } else if (target.path == "/cut" || target.path == "/expire") {
      order(target.path == "/cut");
      out.body = "{}";
    } else {
      ++requests_;
      if (!std::string_view(target.path).ends_with("/" + what_.collection)) {
        out.status = 404;
        out.body = "{}";
      } else if (what_.form.without_managers &&
                 r.fields.get("Accept").find("drop=metadata.managedFields") ==
                     std::string_view::npos) {
        out.status = 400;  // what is not asked for is not measured
        out.body = "{}";
      } else if (target.get("watch")) {
        co_await follow(r.target, to);
        co_return;
      } else {
        out.fields.set("Content-Type", messages_.content_type(false));
        out.body = page(target);
      }
    }
    (void)co_await to.send(std::move(out));
  }

private:
  std::string state() const {
    boost::json::object o{{"open", open_}, {"requests", requests_}, {"recovered_s", nullptr}};
    if (recovered_) o["recovered_s"] = *recovered_;
    o["sender_us_per_event"] = nullptr;
    if (sent_ > 0)
      o["sender_us_per_event"] = static_cast<double>((sending_ended_ - sending_began_).count()) /
                                 1e3 / static_cast<double>(sent_);
    o["event_bytes"] = messages_.event_bytes();
    return boost::json::serialize(o);
  }

  /// Every open watch ends, in one way or the other.
  void order(bool cut) {
    cut_ = cut;
    ++orders_;
    before_ = open_;
    ordered_ = monotonic();
    recovered_.reset();
    if (!cut) listed_version_ = version_now();
    changed_.wake_all();
  }

  std::string page(const reactor::http::target_parts& target) {
    const auto number = [&](const char* key) -> std::size_t {
      const auto text = target.get(key);
      return text ? std::strtoul(std::string(*text).c_str(), nullptr, 10) : 0;
    };
    const std::size_t all = messages_.count(), from = std::min(all, number("continue"));
    std::size_t limit = number("limit");
    if (limit == 0 || target.get("resourceVersion") == "0") limit = all;
    const std::size_t to = std::min(all, from + limit);
    return messages_.list(from, to, listed_version_, to < all ? std::to_string(to) : "");
  }

  class opened {
  public:
    explicit opened(corpus_server& s) : server_(s) {
      ++s.open_;
      if (s.before_ && s.open_ >= *s.before_) {
        s.recovered_ = seconds_of(monotonic() - s.ordered_);
        s.before_.reset();
      }
      if (s.open_ >= s.what_.streams) s.changed_.wake_all();
    }
    ~opened() { --server_.open_; }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;

  private:
    corpus_server& server_;
  };

  reactor::awaitable<void> follow(std::string target, reactor::http::responder& to) {
    reactor::http::response_head head;
    head.status = 200;
    head.fields.add("Content-Type", messages_.content_type(true));
    auto started = co_await to.start(std::move(head));
    if (!started) co_return;
    const opened counted(*this);
    const std::uint64_t seen = orders_;
    const std::string cluster = target.substr(0, target.find('/', 1));
    if (what_.events > 0 && served_.insert(cluster).second) {
      while (open_ < what_.streams) (void)co_await changed_.wait();
      auto sent = co_await send_events(to);
      if (!sent) co_return;
    }
    std::uint64_t version = listed_version_;
    for (;;) {
      const auto why = co_await changed_.wait(loop_.now() + bookmarks_every);
      if (orders_ != seen) break;
      if (why == reactor::woken::by_call) continue;
      version = std::max(version, last_sent_);
      auto written = co_await to.write(messages_.bookmark(version));
      if (!written) co_return;
    }
    if (cut_) {
      to.abandon();
      co_return;
    }
    auto told = co_await to.write(messages_.expired());
    if (told) (void)co_await to.finish();
  }

  /// This stream's share, at its own pace.
  reactor::awaitable<reactor::result<void>> send_events(reactor::http::responder& to) {  // borrowed
    const std::size_t share = what_.events / what_.streams;
    const std::size_t objects = std::min(messages_.count(), changing_objects);
    const bool paced = what_.per_second > 0;
    const auto between = reactor::nanoseconds(
        paced
            ? static_cast<std::int64_t>(1e9 * static_cast<double>(what_.streams) / what_.per_second)
            : 0);
    reactor::steady_time next =
        loop_.now() + (paced ? 1s + loop_.random().between(0ns, between) : reactor::nanoseconds(0));
    if (sending_began_ == 0ns) sending_began_ = process_cpu();
    for (std::size_t i = 0; i < share;) {
      if (paced) {
        co_await loop_.sleep_until(next);
        next += between;
      }
      std::string chunk;
      do {
        const std::uint64_t stamp = std::max(last_sent_ + 1, version_now());
        last_sent_ = stamp;
        messages_.append_event(chunk, i % objects, stamp, i / objects + 1);
        ++i;
      } while (!paced && i < share && chunk.size() < chunk_bytes);
      auto written = co_await to.write(std::move(chunk));
      if (!written) co_return written;
    }
    sent_ += share;
    sending_ended_ = process_cpu();
    co_return reactor::result<void>();
  }

  reactor::loop& loop_;
  const served_corpus what_;
  messages messages_;
  reactor::waiters changed_;      // an order, or the last stream that was waited for
  std::set<std::string> served_;  // clusters whose events have begun
  std::size_t open_ = 0, sent_ = 0;
  std::uint64_t requests_ = 0, orders_ = 0, last_sent_ = 0;
  std::uint64_t listed_version_ = corpus_version;
  bool cut_ = false;
  std::optional<std::size_t> before_;
  std::optional<double> recovered_;
  reactor::nanoseconds ordered_{}, sending_began_{}, sending_ended_{};
};

}  // namespace

std::string served_corpus::text() const {
  return boost::json::serialize(boost::json::object{{"collection", collection},
                                                    {"objects", objects},
                                                    {"protobuf", form.protobuf},
                                                    {"metadata_only", form.metadata_only},
                                                    {"without_managers", form.without_managers},
                                                    {"encoded", encoded},
                                                    {"events", events},
                                                    {"streams", streams},
                                                    {"per_second", per_second}});
}

served_corpus served_corpus::of(const std::string& text) {
  const boost::json::object o = boost::json::parse(text).as_object();
  served_corpus c;
  c.collection = std::string(o.at("collection").as_string());
  c.objects = o.at("objects").to_number<std::size_t>();
  c.form.protobuf = o.at("protobuf").as_bool();
  c.form.metadata_only = o.at("metadata_only").as_bool();
  c.form.without_managers = o.at("without_managers").as_bool();
  c.encoded = std::string(o.at("encoded").as_string());
  c.events = o.at("events").to_number<std::size_t>();
  c.streams = o.at("streams").to_number<std::size_t>();
  c.per_second = o.at("per_second").to_number<double>();
  return c;
}

int run_corpus_server(const std::string& corpus) {
  allow_many_descriptors();
  served_corpus what = served_corpus::of(corpus);
  std::string encoded;
  if (!what.encoded.empty()) {
    std::ifstream in(what.encoded, std::ios::binary);
    encoded.assign(std::istreambuf_iterator<char>(in), {});
  }
  return run_sender(true, [&](reactor::loop& l) -> reactor::http::handler {
    auto side = std::make_shared<corpus_server>(l, std::move(what), encoded);
    encoded = {};
    return [side](reactor::http::request r, reactor::http::responder& to) {
      return side->answer(std::move(r), to);
    };
  });
}

}  // namespace bench
