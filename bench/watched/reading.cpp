#include "bench/watched/reading.hpp"

#include "bench/measure.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

template <class T>
T started(reactor::result<T> got) {
  if (!got) throw std::runtime_error(got.error().message());
  return std::move(*got);
}

child start_corpus_server(const served_corpus& what) {
  return started(child::start({"peers", "--sender", "serve " + what.text()}));
}

reactor::awaitable<void> fetch_once(reactor::loop& l, std::string url, std::string authority,
                                    reactor::http::request r, std::string& body) {  // borrowed
  reactor::http::client_options o;
  o.origin = *reactor::http::parse_origin(url);
  o.tls.ca_pem = std::move(authority);
  reactor::http::client c(l, std::move(o));
  auto got = co_await c.fetch(std::move(r));
  co_await c.stop();
  if (got) body = got->body;
  l.stop();
}

}  // namespace

corpus_client our_client() {
  return {"windlass", "json", {}, "typed-json", false};
}

corpus_client floor_client() {
  return {"decrypt and parse alone", "json", {}, "floor-json", false};
}

corpus_reading::corpus_reading(const corpus_client& by, const std::string& measure,
                               const served_corpus& what, std::size_t clusters)
    : server_(start_corpus_server(what)), name_(by.client + " " + by.encoding) {
  const std::string line = server_.read_line(std::chrono::minutes(2));
  const auto space = line.find(' ');
  if (space == std::string::npos)
    throw std::runtime_error("the server of the corpus did not come up");
  url_ = line.substr(0, space);
  authority_file_ = line.substr(space + 1);
  const std::vector<std::string> words{measure,
                                       by.how,
                                       what.collection,
                                       std::to_string(clusters),
                                       std::to_string(what.events),
                                       url_,
                                       authority_file_};
  if (by.program.empty()) {
    std::string joined = "read";
    for (const std::string& w : words) joined += " " + w;
    client_ = started(child::start({"peers", "--sender", joined}));
    return;
  }
  // It ends with this process, however that ends.
  std::vector<std::string> command{"setpriv", "--pdeathsig", "KILL", "--", by.program};
  command.insert(command.end(), words.begin(), words.end());
  client_ = started(child::start_program(command));
}

corpus_reading::~corpus_reading() {
  unlink(authority_file_.c_str());
}

boost::json::object corpus_reading::answer(std::chrono::seconds most) {
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(client_->read_line(most), bad);
  if (bad || !v.is_object())
    throw std::runtime_error(name_ + ": no answer within " + std::to_string(most.count()) + " s");
  if (const boost::json::value* e = v.get_object().if_contains("error"))
    throw std::runtime_error(name_ + ": " + std::string(e->as_string()));
  return v.get_object();
}

boost::json::object corpus_reading::ask_server(const std::string& method, const std::string& path) {
  std::ifstream in(authority_file_);
  std::string authority(std::istreambuf_iterator<char>(in), {}), body;
  reactor::loop l;
  {
    reactor::task_group tasks(l);
    reactor::http::request r;
    r.method = method;
    r.target = path;
    tasks.start("ask", fetch_once(l, url_, std::move(authority), std::move(r), body));
    l.run();
  }
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(body, bad);
  if (bad || !v.is_object()) throw std::runtime_error("the server of the corpus does not answer");
  return v.get_object();
}

double corpus_reading::kilobytes(std::string_view member) const {
  std::ifstream status("/proc/" + std::to_string(client_->pid()) + "/status");
  double kb = 0;
  for (std::string word; status >> word;)
    if (word == member) status >> kb;
  if (kb == 0) throw std::runtime_error(name_ + ": it ended");
  return kb;
}

void corpus_reading::forget_peak() const {
  std::ofstream("/proc/" + std::to_string(client_->pid()) + "/clear_refs") << '5';
}

double corpus_reading::cpu_seconds() const {
  double ns = 0;
  const std::string tasks = "/proc/" + std::to_string(client_->pid()) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    double on_cpu = 0;
    std::ifstream(task.path() / "schedstat") >> on_cpu;
    ns += on_cpu;
  }
  return ns / 1e9;
}

}  // namespace bench
