#include "tests/k8s/scripted_server.hpp"

#include "reactor/loop.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>

namespace k8s {

using reactor::awaitable;

answer answer::text(int status, std::string content_type, std::string body) {
  answer a;
  a.status_ = status;
  a.fields_.add("Content-Type", std::move(content_type));
  a.parts_.push_back({std::move(body), {}});
  return a;
}

answer answer::json(int status, std::string body) {
  return text(status, "application/json", std::move(body));
}

answer answer::failure(int status, std::string reason, std::string message,
                       std::string details_json) {
  return json(status, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                      R"("message":)" +
                          boost::json::serialize(boost::json::value(message)) + R"(,"reason":)" +
                          boost::json::serialize(boost::json::value(reason)) + R"(,"details":)" +
                          details_json + R"(,"code":)" + std::to_string(status) + "}");
}

answer answer::stream() {
  answer a;
  a.fields_.add("Content-Type", "application/json");
  a.streamed_ = true;
  return a;
}

answer answer::raw(std::string bytes) {
  answer a;
  a.raw_ = true;
  a.parts_.push_back({std::move(bytes), {}});
  a.ending_ = ending::cut;
  return a;
}

answer answer::silence() {
  answer a;
  a.ending_ = ending::silent;
  return a;
}

answer& answer::header(std::string name, std::string value) {
  fields_.set(name, std::move(value));
  return *this;
}

answer& answer::wait(reactor::nanoseconds before_the_head) {
  wait_ = before_the_head;
  return *this;
}

answer& answer::piece(std::string bytes, reactor::nanoseconds pause_before) {
  parts_.push_back({std::move(bytes), pause_before});
  return *this;
}

answer& answer::stay_open() {
  ending_ = ending::open;
  return *this;
}

answer& answer::cut() {
  ending_ = ending::cut;
  return *this;
}

struct scripted_server::open_stream {
  open_stream(scripted_server& s, std::string t)
      : owner(s), target(std::move(t)), changed(s.loop_) {
    place = owner.open_.insert(owner.open_.end(), this);
  }
  ~open_stream() { owner.open_.erase(place); }
  scripted_server& owner;
  std::string target;
  std::deque<std::string> queued;
  bool ended = false, gone = false;
  reactor::waiters changed;
  std::list<open_stream*>::iterator place;
};

scripted_server::scripted_server(reactor::loop& l, reactor::endpoint at)
    : loop_(l), at_(std::move(at)), tasks_(l) {
  auto listening = loop_.net().listen(at_);
  if (!listening) throw std::runtime_error(listening.error().message());
  acceptor_ = std::move(*listening);
  at_ = acceptor_->local();
  tasks_.start("accept", accept_all());
}

scripted_server::~scripted_server() = default;

void scripted_server::on(std::string method, std::string prefix, answer a) {
  once_.push_back({std::move(method), std::move(prefix), std::move(a)});
}

void scripted_server::always(std::string method, std::string prefix, answer a) {
  always_.insert(always_.begin(), {std::move(method), std::move(prefix), std::move(a)});
}

void scripted_server::otherwise(std::function<answer(const received&)> make) {
  otherwise_ = std::move(make);
}

void scripted_server::forget_rules() {
  once_.clear();
  always_.clear();
  otherwise_ = {};
}

std::size_t scripted_server::count(std::string_view method, std::string_view prefix) const {
  std::size_t n = 0;
  for (const received& r : requests_) n += r.method == method && r.target.starts_with(prefix);
  return n;
}

std::size_t scripted_server::push(std::string_view prefix, std::string bytes) {
  std::size_t n = 0;
  for (open_stream* s : open_) {
    if (!s->target.starts_with(prefix) || s->ended) continue;
    s->queued.push_back(bytes);
    s->changed.wake_all();
    ++n;
  }
  return n;
}

std::size_t scripted_server::end(std::string_view prefix) {
  std::size_t n = 0;
  for (open_stream* s : open_) {
    if (!s->target.starts_with(prefix) || s->ended) continue;
    s->ended = true;
    s->changed.wake_all();
    ++n;
  }
  return n;
}

std::size_t scripted_server::open_streams(std::string_view prefix) const {
  std::size_t n = 0;
  for (const open_stream* s : open_) n += s->target.starts_with(prefix) && !s->gone;
  return n;
}

connection scripted_server::to() const {
  connection c;
  c.server = "http://" + at_.host + ":" + std::to_string(at_.port);
  c.source = "test";
  return c;
}

awaitable<void> scripted_server::stop() {
  acceptor_->close();
  co_await tasks_.cancel_and_join();
}

awaitable<void> scripted_server::accept_all() {
  for (;;) {
    auto next = co_await acceptor_->accept();
    if (!next) co_return;
    std::shared_ptr<reactor::stream> s = std::move(*next);
    tasks_.start("serve", serve(std::move(s)));
  }
}

awaitable<void> scripted_server::serve(std::shared_ptr<reactor::stream> s) {
  std::string held;
  for (;;) {
    received r;
    const bool came = co_await read_request(s, held, r);
    if (!came) break;
    r.at = loop_.now();
    requests_.push_back(r);
    answer a = choose(r);
    const bool go_on = co_await reply(s, std::move(a), r.target);
    if (!go_on) break;
  }
  s->close();
}

namespace {

awaitable<bool> read_more(reactor::stream& s, std::string& into) {  // borrowed
  char buffer[4 * 1024];
  auto n = co_await s.read_some(buffer);
  if (!n || *n == 0) co_return false;
  into.append(buffer, *n);
  co_return true;
}

}  // namespace

awaitable<bool> scripted_server::read_request(std::shared_ptr<reactor::stream> s, std::string& held,
                                              received& into) {  // borrowed
  std::size_t head = 0;
  while ((head = held.find("\r\n\r\n")) == std::string::npos) {
    const bool ok = co_await read_more(*s, held);
    if (!ok) co_return false;
  }
  const std::string lines = held.substr(0, head + 2);
  held.erase(0, head + 4);
  const std::size_t first = lines.find(' '), second = lines.find(' ', first + 1);
  into.method = lines.substr(0, first);
  into.target = lines.substr(first + 1, second - first - 1);
  for (std::size_t from = lines.find("\r\n") + 2; from < lines.size();) {
    const std::size_t to = lines.find("\r\n", from);
    const std::size_t colon = lines.find(':', from);
    const std::size_t value = lines.find_first_not_of(' ', colon + 1);
    into.fields.add(lines.substr(from, colon - from), lines.substr(value, to - value));
    from = to + 2;
  }
  const std::string length(into.fields.get("Content-Length"));
  const std::size_t body = length.empty() ? 0 : std::strtoul(length.c_str(), nullptr, 10);
  while (held.size() < body) {
    const bool ok = co_await read_more(*s, held);
    if (!ok) co_return false;
  }
  into.body = held.substr(0, body);
  held.erase(0, body);
  co_return true;
}

answer scripted_server::choose(const received& r) {
  for (auto it = once_.begin(); it != once_.end(); ++it) {
    if (it->method != r.method || !r.target.starts_with(it->prefix)) continue;
    answer a = std::move(it->a);
    once_.erase(it);
    return a;
  }
  for (const rule& one : always_) {
    if (one.method == r.method && r.target.starts_with(one.prefix)) return one.a;
  }
  if (otherwise_) return otherwise_(r);
  return answer::failure(404, "NotFound", "nothing in the script for " + r.method + " " + r.target);
}

namespace {

std::string chunk(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace

awaitable<bool> scripted_server::reply(std::shared_ptr<reactor::stream> s, answer a,
                                       std::string target) {
  if (a.wait_ > reactor::nanoseconds::zero()) co_await loop_.sleep_for(a.wait_);
  if (a.ending_ == answer::ending::silent) {
    (void)co_await s->wait_readable();  // only its end can come
    co_return false;
  }
  std::string first;
  if (!a.raw_) {
    first = "HTTP/1.1 " + std::to_string(a.status_) + " Scripted\r\n";
    for (const auto& [name, value] : a.fields_) first += name + ": " + value + "\r\n";
    if (a.streamed_) {
      first += "Transfer-Encoding: chunked\r\n\r\n";
    } else {
      std::size_t length = 0;
      for (const auto& p : a.parts_) length += p.bytes.size();
      first += "Content-Length: " + std::to_string(length) + "\r\n\r\n";
    }
    if (a.streamed_) {
      auto wrote = co_await s->write_all(first);
      if (!wrote) co_return false;
      first.clear();
    }
  }
  for (const auto& p : a.parts_) {
    if (p.pause > reactor::nanoseconds::zero()) co_await loop_.sleep_for(p.pause);
    const std::string bytes = first + (a.streamed_ ? chunk(p.bytes) : p.bytes);
    first.clear();
    auto wrote = co_await s->write_all(bytes);
    if (!wrote) co_return false;
  }
  switch (a.ending_) {
    case answer::ending::complete: break;
    case answer::ending::open: {
      const bool whole = co_await follow(s, std::move(target));
      if (!whole) co_return false;
      break;
    }
    case answer::ending::cut:
    case answer::ending::silent: co_return false;
  }
  if (!a.streamed_) co_return true;
  auto wrote = co_await s->write_all(last_chunk);
  co_return wrote.has_value();
}

awaitable<bool> scripted_server::follow(std::shared_ptr<reactor::stream> s, std::string target) {
  const auto open = std::make_shared<open_stream>(*this, std::move(target));
  const auto watcher = tasks_.start("notice the end", [s, open]() -> awaitable<void> {
    (void)co_await s->wait_readable();
    open->gone = true;
    open->changed.wake_all();
  });
  for (;;) {
    while (!open->queued.empty()) {
      const std::string bytes = chunk(open->queued.front());
      open->queued.pop_front();
      auto wrote = co_await s->write_all(bytes);
      if (!wrote) co_return false;
    }
    if (open->gone) co_return false;
    if (open->ended) {
      tasks_.cancel(watcher);
      co_return true;
    }
    (void)co_await open->changed.wait();
  }
}

std::string watch_line(std::string_view type, std::string_view object_json) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object_json) + "}\n";
}

}  // namespace k8s
