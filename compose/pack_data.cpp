#include "compose/pack_data.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <utility>

namespace compose {
namespace {

using namespace std::chrono_literals;
using policies::compose::data_files;

constexpr reactor::nanoseconds fresh_for = 1s;

/// As long as somebody reads; also who is cancelled no longer does.
class under_way {
public:
  explicit under_way(bool& flag) : flag_(flag) { flag_ = true; }
  ~under_way() { flag_ = false; }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;

private:
  bool& flag_;
};

void read_environment(data_files& out, const policies::compose::declaration& about,
                      const pack_data::variable& variable) {
  for (const std::string& name : about.environment)
    if (std::string said = variable(name); !said.empty())
      out.environment.insert_or_assign(name, std::move(said));
}

}  // namespace

std::string digest_with_problem(const data_files& f) {
  return f.digest + f.problem;
}

reactor::awaitable<pack_data::files> pack_data::of(policies::compose::declaration about,
                                                   std::shared_ptr<const policies::pack> p) {
  const std::string path = about.data_from.empty() ? std::string() : variable_(about.data_from);
  if (path.empty()) {
    auto& known = own_[about.pack];
    if (known.second && known.first.lock() == p) co_return known.second;
    auto made = std::make_shared<data_files>(policies::compose::own_files(*p, about));
    read_environment(*made, about, variable_);
    known = {p, made};
    co_return made;
  }
  if (const auto known = folders_.find(path);
      known != folders_.end() && known->second.read &&
      (known->second.reading || loop_.now() - known->second.read_at < fresh_for))
    co_return known->second.last;
  std::function<reactor::result<std::shared_ptr<data_files>>()> read =
      [path]() -> reactor::result<std::shared_ptr<data_files>> {
    auto files = policies::read_data_folder(path);
    if (!files) return files.error();
    auto made = std::make_shared<data_files>();
    for (auto& [name, text] : *files) made->text.insert_or_assign(name, std::move(text));
    policies::compose::seal(*made);
    return made;
  };
  folder& f = folders_[path];
  const under_way now(f.reading);
  auto got = co_await loop_.offload(std::move(read));
  f.read_at = loop_.now();
  f.read = true;
  if (got) {
    read_environment(**got, about, variable_);
    // The same files are the same picture: who compares need not read.
    if (!f.last || f.last->digest != (*got)->digest || !f.last->problem.empty())
      f.last = std::move(*got);
  } else {
    auto old = std::make_shared<data_files>(f.last ? *f.last : data_files());
    old->problem = got.error().message();
    f.last = std::move(old);
  }
  co_return f.last;
}

}  // namespace compose
