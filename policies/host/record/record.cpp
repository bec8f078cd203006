#include "policies/host/record/record.hpp"

#include "formats/digest.hpp"
#include "formats/json/json.hpp"
#include "policies/host/plain.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <mutex>
#include <utility>

namespace policies {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

/// The questions name nodes, pods and the labels of a fleet.
constexpr mode_t file_mode = 0600;
constexpr std::string_view format = "windlass.dev/policy-record";
constexpr int format_version = 2;  // 1 named packs by twelve digits, as `hash`
constexpr std::size_t most_line_bytes = 8 * 1024 * 1024, most_read_bytes = 128 * 1024 * 1024,
                      sum_digits = 16;
/// kubectl apply keeps the whole object there, with all that was written into it.
constexpr std::string_view whole_object = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view sum_begins = ",\"sum\":\"", line_ends = "\"}";
constexpr std::size_t sealing_bytes = sum_begins.size() + sum_digits + line_ends.size() + 1;

value plain_of(const slot& s);

value plain_of(const view_type& type, const void* object) {
  if (type.is == view_type::form::array) {
    value::array out;
    const std::size_t n = type.size(object);
    out.reserve(n);
    for (std::size_t i = 0; i < n; ++i) out.push_back(plain_of(type.at(object, i)));
    return out;
  }
  value::object out;
  for (auto key = type.next(object, std::nullopt); key; key = type.next(object, key)) {
    const auto found = type.find(object, *key);
    if (!found || found->is == slot::kind::nil) continue;
    if (*key == whole_object && found->is == slot::kind::text)
      out.emplace(std::string(*key), "sha256:" + formats::sha256_hex(found->text));
    else
      out.emplace(std::string(*key), plain_of(*found));
  }
  return out;
}

value plain_of(const slot& s) {
  switch (s.is) {
    case slot::kind::nil: return {};
    case slot::kind::boolean: return s.boolean;
    case slot::kind::number: return s.number;
    case slot::kind::text: return s.text;
    case slot::kind::view: return plain_of(*s.type, s.object);
  }
  return {};
}

value plain_of(const labels& all) {
  value::object out;
  for (const auto& [key, text] : all) out.emplace(key, text);
  return out;
}

std::string sum_of(std::string_view before, std::string_view line) {
  std::string all(before);
  all += line;
  return formats::sha256_hex(all).substr(0, sum_digits);
}

/// The line with its sum, and a newline.
std::string sealed(std::string line, std::string& chain) {
  line.pop_back();  // the brace
  chain = sum_of(chain, line);
  line += sum_begins;
  line += chain;
  line += line_ends;
  line += '\n';
  return line;
}

std::string line_of(const question_note& n) {
  value::object subject_of{{"api", n.about.api},
                           {"clusterLabels", plain_of(n.about.cluster_labels)},
                           {"objectLabels", plain_of(n.about.object_labels)}};
  if (!n.about.pack.empty()) subject_of.emplace("pack", n.about.pack);
  value::array arguments;
  for (const argument& a : n.arguments) arguments.push_back(policies::plain_of(a));
  value::object line;
  line.emplace("at", reactor::format_rfc3339(n.at));
  line.emplace("hook", n.hook);
  line.emplace("subject", std::move(subject_of));
  line.emplace("instructions", static_cast<double>(n.instructions));
  line.emplace("arguments", std::move(arguments));
  if (!n.pack.empty()) {
    line.emplace("pack", n.pack);
    line.emplace("version", n.version);
    line.emplace("digest", n.digest);
  }
  if (n.answer) line.emplace("answer", *n.answer);
  if (n.failed) line.emplace("fault", n.failed->message());
  return to_text(value(std::move(line)));
}

const std::string& text_in(const value& line, std::string_view key) {
  static const std::string none;
  const value* v = line.find(key);
  const std::string* text = v ? v->if_string() : nullptr;
  return text ? *text : none;
}

labels labels_in(const value* all) {
  labels out;
  const value::object* o = all ? all->if_object() : nullptr;
  if (!o) return out;
  for (const auto& [key, v] : *o)
    if (const std::string* text = v.if_string()) out.emplace(key, *text);
  return out;
}

}  // namespace

value plain_of(const argument& a) {
  if (const value* v = std::get_if<value>(&a)) return *v;
  const view& seen = std::get<view>(a);
  return plain_of(*seen.type, seen.object.get());
}

struct recorder::file {
  std::mutex one_at_a_time;  // several workers write for several questions
  std::string path;
  std::size_t most = most_bytes, size = 0, left_out = 0, missing = 0;
  std::string chain;
  int fd = -1;
  bool has_head = false;

  ~file() { close(); }
  void close() noexcept {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  result<void> failed(std::string_view doing) const {
    return make_fault(
        reactor::error_code(errno == 0 ? EIO : errno, boost::system::system_category()),
        std::string(doing) + " " + path);
  }
  result<void> begin() {
    close();
    has_head = false;
    size = 0;
    chain.clear();
    // What is there from a run before is kept as the older half.
    struct stat there;
    if (::lstat(path.c_str(), &there) == 0 && (S_ISREG(there.st_mode) || S_ISLNK(there.st_mode))) {
      if (S_ISREG(there.st_mode)) (void)::chmod(path.c_str(), file_mode);
      if (::rename(path.c_str(), (path + ".1").c_str()) != 0)
        return failed("keep the older part of");
    }
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOCTTY,
                file_mode);
    if (fd < 0) return failed("write");
    return put_head();
  }
  result<void> put_head() {
    auto written = put(
        to_text(value::object{{"record", std::string(format)}, {"recordVersion", format_version}}));
    has_head = written.has_value();
    return written;
  }
  /// A line that cannot be written whole is taken back, so that the next one fits behind the last.
  result<void> put(std::string line) {
    std::string next = chain;
    const std::string all = sealed(std::move(line), next);
    if (!reactor::write_all(fd, all)) {
      auto why = failed("write");
      if (::ftruncate(fd, static_cast<off_t>(size)) != 0) close();
      return why;
    }
    chain = std::move(next);
    size += all.size();
    return {};
  }
  result<void> note(const question_note& n) {
    std::string line = line_of(n);
    if (line.size() > most_line_bytes) {
      ++left_out;
      return {};
    }
    result<void> ready;
    if (fd < 0 || size + line.size() + sealing_bytes > most / 2)
      ready = begin();
    else if (!has_head)
      ready = put_head();
    if (!ready) return ready;
    return put(std::move(line));
  }
};

recorder::recorder(reactor::loop& l, std::string path, std::size_t most)
    : loop_(l), path_(std::move(path)), file_(std::make_shared<file>()) {
  file_->path = path_;
  file_->most = most;
}

recorder::~recorder() = default;

reactor::awaitable<result<void>> recorder::open() {
  const auto begin = [](const std::shared_ptr<file>& f) {
    const std::scoped_lock alone(f->one_at_a_time);
    return f->begin();
  };
  auto begun = co_await loop_.offload(begin, file_);
  co_return begun;
}

reactor::awaitable<result<std::size_t>> recorder::write(question_note n) {
  auto shared = std::make_shared<const question_note>(std::move(n));
  const auto note = [](const std::shared_ptr<file>& f, const auto& of) -> result<std::size_t> {
    const std::scoped_lock alone(f->one_at_a_time);
    auto written = f->note(*of);
    if (written) return std::exchange(f->missing, 0);
    ++f->missing;
    return written.error();
  };
  auto noted = co_await loop_.offload(note, file_, std::move(shared));
  co_return noted;
}

result<policy_record> read_record(std::string_view text, const std::string& name) {
  const std::string doing = "read record " + name;
  if (text.size() > most_read_bytes) return make_fault(errc::limit, doing, "more than 128 MiB");
  policy_record out;
  std::string chain;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      if (number == 0) return make_fault(errc::malformed, doing, "this is no record of policies");
      out.cut_short = true;
      break;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    const std::string where = "line " + std::to_string(number) + ": ";
    auto read = formats::read_json(line);
    const value v = read ? plain(*read) : value();
    if (number == 1) {
      const value* version = v.find("recordVersion");
      if (text_in(v, "record") != format || !version || !version->if_number())
        return make_fault(errc::malformed, doing, "this is no record of policies");
      if (*version->if_number() != format_version)
        return make_fault(errc::malformed, doing,
                          "it was written by another version of windlass: its form is " +
                              to_text(*version) + ", this one reads " +
                              std::to_string(format_version));
    }
    if (!read)
      return make_fault(errc::malformed, doing, where + "it is damaged: " + read.error().text);
    const std::size_t sum = line.rfind(sum_begins);
    if (sum == std::string_view::npos)
      return make_fault(errc::malformed, doing, where + "it was edited or damaged: it has no sum");
    chain = sum_of(chain, line.substr(0, sum));
    if (line.substr(sum + sum_begins.size()) != chain + std::string(line_ends))
      return make_fault(errc::malformed, doing,
                        where +
                            "it or a line before was edited, taken away or damaged: its sum "
                            "does not fit");
    if (number == 1) continue;
    recorded_question q;
    q.number = number - 1;
    q.at = text_in(v, "at");
    q.hook = text_in(v, "hook");
    q.pack = text_in(v, "pack");
    q.version = text_in(v, "version");
    q.digest = text_in(v, "digest");
    q.fault = text_in(v, "fault");
    if (const value* n = v.find("instructions"); n && n->if_number())
      q.instructions = static_cast<std::int64_t>(*n->if_number());
    if (const value* about = v.find("subject")) {
      q.about.api = text_in(*about, "api");
      q.about.pack = text_in(*about, "pack");
      q.about.cluster_labels = labels_in(about->find("clusterLabels"));
      q.about.object_labels = labels_in(about->find("objectLabels"));
    }
    const value* arguments = v.find("arguments");
    if (arguments && arguments->if_array()) q.arguments = *arguments->if_array();
    if (const value* answer = v.find("answer")) q.answer = *answer;
    out.questions.push_back(std::move(q));
  }
  if (number == 0) return make_fault(errc::malformed, doing, "this is no record of policies");
  return out;
}

}  // namespace policies
