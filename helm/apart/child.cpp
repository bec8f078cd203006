#include "helm/apart/child.hpp"

#include "formats/digest.hpp"
#include "formats/go/time.hpp"
#include "formats/plain/deep_stack.hpp"
#include "reactor/system/child_workers.hpp"
#include "reactor/system/confine.hpp"
#include "reactor/system/descriptor.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace helm::apart {
namespace {

constexpr std::string_view inner_mode = "@charts";
constexpr std::size_t length_bytes = 8;
constexpr int job_too_long = 4;  // an exit status
/// A child that has grown so much makes room for a fresh one when it has answered.
constexpr std::int64_t retires_at_bytes = child_memory_bytes * 2 / 3;

bool read_all(char* into, std::size_t n) {
  while (n > 0) {
    const ssize_t got = ::read(STDIN_FILENO, into, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}

std::uint64_t read_length(const unsigned char* bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    n |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return n;
}

std::int64_t most_resident_bytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return std::int64_t{used.ru_maxrss} * 1024;
}

/// The pieces that follow a job on standard input.
class pieces_of_a_job {
public:
  std::size_t next(char* into, std::size_t room) {
    if (left_ == 0 && !is_over_) {
      left_ = next_length();
      is_over_ = left_ == 0;
    }
    if (is_over_ || room == 0) return 0;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, room));
    if (!read_all(into, n)) {
      is_over_ = true;
      return 0;
    }
    left_ -= n;
    return n;
  }

private:
  static std::uint64_t next_length() {
    unsigned char length[length_bytes];
    if (!read_all(reinterpret_cast<char*>(length), length_bytes)) return 0;
    return read_length(length);
  }
  std::uint64_t left_ = 0;
  bool is_over_ = false;
};

}  // namespace

reply bench_of_a_child::done(request r, const text_source& pieces) {
  outcome<std::shared_ptr<prepared_chart>> chart = std::shared_ptr<prepared_chart>();
  if (!r.digest.empty()) {
    if (auto known = charts_.find(r.digest)) {
      chart = std::move(known);
    } else if (r.archive.empty()) {
      return {reply_kind::chart_needed, {}};
    } else if (digest_of(r.archive) != r.digest) {
      return {reply_kind::refused, "the archive is not the one of its digest"};
    } else {
      chart = charts_.from_archive(r.archive);
    }
  }
  std::string().swap(r.archive);
  const auto found = std::ranges::find(handlers_, r.job, &handler::number);
  if (found == handlers_.end()) return {reply_kind::refused, "there is no such job"};
  auto answer = found->run(r, chart, pieces);
  char passed_over[4096];
  while (found->has_pieces && pieces(passed_over, sizeof passed_over) > 0) {
  }
  if (!answer) return {reply_kind::refused, answer.error().text};
  return {reply_kind::done, std::move(*answer)};
}

std::string bench_of_a_child::reply_to(std::string bytes, const text_source& pieces) {
  auto r = from_bytes<request>(bytes, longest_job_bytes * 2);
  std::string().swap(bytes);
  const reply out = r ? done(std::move(*r), pieces) : reply{reply_kind::refused, r.error().text};
  return *to_bytes(out);
}

int serve(std::span<const handler> all) {
  keep_all_zones();
  (void)stack_is_roomy();  // libc looks into /proc for the first stack's end
  bench_of_a_child bench(all);
  if (!reactor::confine_this_process(child_memory_bytes)) return reactor::child_not_confined;
  const std::int64_t at_first = most_resident_bytes();
  for (;;) {
    unsigned char length[length_bytes];
    if (!read_all(reinterpret_cast<char*>(length), length_bytes)) return reactor::child_retired;
    const std::uint64_t size = read_length(length);
    if (size > longest_job_bytes) return job_too_long;
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (!read_all(bytes.data(), bytes.size())) return reactor::child_retired;
    pieces_of_a_job pieces;
    const text_source next = [&](char* into, std::size_t room) { return pieces.next(into, room); };
    const std::string said = bench.reply_to(std::move(bytes), next);
    std::string head;
    for (std::size_t i = 0; i < length_bytes; ++i)
      head += static_cast<char>(std::uint64_t{said.size()} >> (8 * i));
    if (!reactor::write_all(STDOUT_FILENO, head) || !reactor::write_all(STDOUT_FILENO, said))
      return reactor::child_retired;
    if (most_resident_bytes() - at_first > retires_at_bytes) return reactor::child_retired;
  }
}

std::vector<std::string> child_argv(const std::string& program) {
  return {program, std::string(inner_mode)};
}

bool is_child(int argc, const char* const* argv) {
  return argc == 2 && argv[1] == inner_mode;
}

}  // namespace helm::apart
