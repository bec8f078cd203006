#include "policies/commands/replay.hpp"

#include "policies/disruption.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace cli {
namespace {

using policies::recorded_question;
using policies::value;

struct verdict {
  std::string pack, text;
};

/// Sentences name packs and files; what a policy says of a fault is all that counts.
std::string text_of(const reactor::result<policies::decision>& said) {
  if (!said) return said.error().message();
  return said->answer ? policies::to_text(*said->answer) : std::string("null");
}

std::vector<policies::argument> arguments_of(const recorded_question& q) {
  return {q.arguments.begin(), q.arguments.end()};
}

/// The first no of all that apply, or the last yes: what admit_disruption() does.
reactor::awaitable<verdict> ask_all(policies::host& packs,
                                    const recorded_question& q) {  // borrowed
  verdict out;
  bool is_watched = false;
  for (const value& a : q.arguments)
    if (const value* told = a.find("watched"); told && told->if_bool())
      is_watched = *told->if_bool();
  const auto chain = policies::disruption_chain(packs, q.about, is_watched);
  for (const auto& one : chain) {
    auto said = co_await packs.ask(one, q.hook, arguments_of(q), q.instructions);
    out = {one->about().name, text_of(said)};
    const value* admit = said && said->answer ? said->answer->find("admit") : nullptr;
    if (!admit || !admit->if_bool() || !*admit->if_bool()) break;
  }
  co_return out;
}

reactor::awaitable<verdict> ask_first(policies::host& packs,
                                      const recorded_question& q) {  // borrowed
  auto chosen = packs.select(q.hook, q.about);
  if (!chosen) co_return verdict{{}, chosen.error().message()};
  const auto asked = *chosen;
  auto said = co_await packs.ask(asked, q.hook, arguments_of(q), q.instructions);
  co_return verdict{asked->about().name, text_of(said)};
}

/// Of the first argument that has it.
std::string field_of(const recorded_question& q, std::string_view name) {
  for (const value& a : q.arguments) {
    const value* found = a.find(name);
    if (found && found->if_string()) return *found->if_string();
  }
  return {};
}

/// What a person sees of an answer that is another one now: the text around `differs`, the first
/// byte of it that is not the same.
std::string around(const std::string& text, std::size_t differs) {
  constexpr std::size_t most = 160, before = 60;
  const auto whole = [&](std::size_t at) {  // not in the middle of a character
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      --at;
    return std::min(at, text.size());
  };
  const std::size_t from = whole(differs > before ? differs - before : 0), to = whole(from + most);
  return (from ? "… " : "") + text.substr(from, to - from) + (to < text.size() ? " …" : "");
}

}  // namespace

reactor::awaitable<replayed> ask_again(policies::host& packs,
                                       std::vector<recorded_question> questions) {
  replayed out;
  for (const recorded_question& q : questions) {
    const bool every_pack = q.hook == "disruption.admit";
    verdict now;
    if (every_pack)
      now = co_await ask_all(packs, q);
    else
      now = co_await ask_first(packs, q);
    ++out.questions;
    const std::string was = q.fault.empty() ? policies::to_text(q.answer) : q.fault;
    if (now.text == was) continue;
    // A yes of another pack is the same yes.
    const auto admits = [](const std::string& text) {
      return text.find("\"admit\":true") != std::string::npos;
    };
    if (every_pack && admits(was) && (now.pack.empty() || admits(now.text))) continue;
    out.changed.push_back({q.number, q.at, q.hook, field_of(q, "cluster"), field_of(q, "name"),
                           q.pack, now.pack, was, now.text});
  }
  co_return out;
}

page row_of(const changed_answer& c) {
  const auto differs = static_cast<std::size_t>(
      std::mismatch(c.was.begin(), c.was.end(), c.is.begin(), c.is.end()).first - c.was.begin());
  page of;
  if (!c.cluster.empty()) of += page(" ") + c.cluster;
  if (!c.unit.empty()) of += page("/") + c.unit;
  return page("question ") + std::to_string(c.question) + ", " + c.at + ": " + c.hook + of +
         "\n  was " + c.was_pack + ": " + around(c.was, differs) + "\n  is  " + c.is_pack + ": " +
         around(c.is, differs) + "\n";
}

}  // namespace cli
