#include "compose/pack_data.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/reason.hpp"

#include <utility>

namespace compose {
namespace {

using namespace std::chrono_literals;
using policies::compose::data_files;

constexpr reactor::nanoseconds fresh_for = 1s;

/// As long as there are readers; a cancelled one no longer counts.
class under_way {
public:
  under_way(bool& flag, reactor::waiters& others) : flag_(flag), others_(others) { flag_ = true; }
  ~under_way() {
    flag_ = false;
    others_.wake_all();
  }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;

private:
  bool& flag_;
  reactor::waiters& others_;
};

/// A pack must not learn a credential from the environment of the process.
bool is_told(std::string_view name, std::string_view said) {
  return name.find("_IMAGE_NAME") == name.npos ? said == "true" || said == "false" : !said.empty();
}

void read_environment(data_files& out, const policies::compose::declaration& about,
                      const pack_data::variable& variable) {
  for (const std::string& name : about.environment)
    if (std::string said = variable(name); is_told(name, said))
      out.environment.insert_or_assign(name, std::move(said));
}

}  // namespace

std::string digest_with_problem(const data_files& f) {
  return f.digest + f.problem;
}

reactor::awaitable<pack_data::files> pack_data::of(policies::compose::declaration about,
                                                   std::shared_ptr<const policies::pack> p,
                                                   wants w) {
  const std::string path = about.data_from.empty() ? std::string() : variable_(about.data_from);
  if (path.empty()) {
    auto& known = own_[about.pack];
    if (known.second && known.first.lock() == p) co_return known.second;
    auto made = std::make_shared<data_files>(policies::compose::own_files(*p, about));
    read_environment(*made, about, variable_);
    known = {p, made};
    co_return made;
  }
  folder& f = folders_.try_emplace(path, loop_).first->second;
  while (f.reading && (w == wants::newest || !f.read)) (void)co_await f.read_by_another.wait();
  if (f.read && (f.reading || loop_.now() - f.read_at < fresh_for)) co_return f.last;
  const auto read = [](const std::string& from) -> reactor::result<std::shared_ptr<data_files>> {
    auto files = policies::read_data_folder(from);
    if (!files) return files.error();
    auto made = std::make_shared<data_files>();
    for (auto& [name, text] : *files) made->text.insert_or_assign(name, std::move(text));
    policies::compose::seal(*made);
    return made;
  };
  const under_way now(f.reading, f.read_by_another);
  auto got = co_await loop_.offload(read, path);
  std::string problem, refused;
  if (got) {
    read_environment(**got, about, variable_);
    std::shared_ptr<data_files> found = std::move(*got);
    problem = refused = co_await judge(path, p, found);
    if (problem.empty() || !f.good) {
      found->problem = found->refused = problem;
      // The same files are the same picture: who compares need not read.
      if (!f.last || digest_with_problem(*f.last) != digest_with_problem(*found))
        f.last = std::move(found);
      f.good = problem.empty();
    }
  } else {
    problem = got.error().message();
  }
  if (!problem.empty() && problem != f.told)
    log_.error("the data of a pack is refused",
               {{"pack", about.pack},
                {"folder", path},
                {"why", problem},
                {"inForce", f.good ? "the last good files" : "nothing, or the refused files"}});
  f.told = problem;
  if (!problem.empty() && (!f.last || f.last->problem != problem)) {
    auto old = std::make_shared<data_files>(f.last ? *f.last : data_files());
    old->problem = std::move(problem);
    old->refused = std::move(refused);
    f.last = std::move(old);
  }
  f.read_at = loop_.now();
  f.read = true;
  co_return f.last;
}

reactor::awaitable<std::string> pack_data::judge(std::string path,
                                                 std::shared_ptr<const policies::pack> p,
                                                 files found) {
  folder& f = folders_.at(path);
  if (!p->has("compose.data")) co_return std::string();
  if (f.judged == found->digest && f.judge.lock() == p) co_return f.verdict;
  std::string verdict;
  policies::judge accept = [&verdict, &p, &path,
                            this](const policies::value& v) -> reactor::result<void> {
    auto read = policies::compose::read_verdict(v);
    if (!read) return read.error();
    verdict = std::move(read->problem);
    for (const std::string& warning : read->warnings)
      log_.warning("a pack warns of its data",
                   {{"pack", p->about().name}, {"folder", path}, {"warning", warning}});
    return {};
  };
  auto arguments = policies::compose::data_arguments(found);
  auto said =
      co_await policies::pack::call(p, "compose.data", std::move(arguments),
                                    policies::compose::data_instructions, std::move(accept));
  if (!said)
    verdict = reactor::printable(said.error().message(), policies::compose::longest_verdict);
  else if (!said->accepted)
    verdict =
        reactor::printable(said->accepted.error().message(), policies::compose::longest_verdict);
  f.judged = found->digest;
  f.verdict = verdict;
  f.judge = p;
  co_return verdict;
}

}  // namespace compose
