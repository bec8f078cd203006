#include "compose/pack_data.hpp"

#include "formats/digest.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <utility>

namespace compose {
namespace {

using namespace std::chrono_literals;
using policies::compose::data_files;

constexpr reactor::nanoseconds fresh_for = 1s;

void add(data_files& out, std::string name, std::string text) {
  out.text.insert_or_assign(std::move(name), std::move(text));
}

void read_environment(data_files& out, const policies::compose::declaration& about,
                      const pack_data::variable& variable) {
  for (const std::string& name : about.environment)
    if (std::string said = variable(name); !said.empty())
      out.environment.insert_or_assign(name, std::move(said));
}

void seal(data_files& out) {
  std::string all;
  for (const auto& [name, text] : out.text)
    all += formats::sha256_hex(name) + formats::sha256_hex(text);
  out.digest = formats::digest_of(all);
}

}  // namespace

reactor::awaitable<pack_data::files> pack_data::of(policies::compose::declaration about,
                                                   std::shared_ptr<const policies::pack> p) {
  const std::string path = about.data_from.empty() ? std::string() : variable_(about.data_from);
  if (path.empty()) {
    auto& known = own_[about.pack];
    if (known.second && known.first.lock() == p) co_return known.second;
    auto made = std::make_shared<data_files>();
    if (!about.data.empty())
      for (const auto& [name, text] : p->files())
        if (name.starts_with(about.data)) add(*made, name.substr(about.data.size()), text);
    read_environment(*made, about, variable_);
    seal(*made);
    known = {p, made};
    co_return made;
  }
  if (const auto known = folders_.find(path); known != folders_.end() && known->second.read &&
                                              loop_.now() - known->second.read_at < fresh_for)
    co_return known->second.last;
  std::function<reactor::result<std::shared_ptr<data_files>>()> read =
      [path]() -> reactor::result<std::shared_ptr<data_files>> {
    auto files = policies::read_data_folder(path);
    if (!files) return files.error();
    auto made = std::make_shared<data_files>();
    for (auto& [name, text] : *files) add(*made, name, std::move(text));
    seal(*made);
    return made;
  };
  auto got = co_await loop_.offload(std::move(read));
  folder& f = folders_[path];
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
