#include "bootc/daemon/stage_progress.hpp"

#include "k8s/client/wire.hpp"

#include <algorithm>
#include <cstdint>

namespace bootc {
namespace {

constexpr std::size_t most_task_bytes = 32;
constexpr std::int64_t megabyte = 1'000'000;

/// A task is one word of bootc's. What else a host may say stays out of the condition, whose marks
/// ("; ") are read again.
bool is_word(std::string_view task) {
  return !task.empty() && task.size() <= most_task_bytes &&
         std::all_of(task.begin(), task.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

}  // namespace

std::string progress_words(std::string_view line) {
  auto& parser = k8s::shared_parser();
  const auto event = parser.parse(line);
  if (!event || event->kind() != k8s::wire_kind::object) return {};
  const std::string_view type = (*event)["type"].text();
  const bool in_bytes = type == "ProgressBytes";
  if (!in_bytes && type != "ProgressSteps") return {};
  const std::string task((*event)["task"].text());
  const std::int64_t done = (*event)[in_bytes ? "bytes" : "steps"].integer(),
                     all = (*event)[in_bytes ? "bytesTotal" : "stepsTotal"].integer();
  if (parser.problem() || !is_word(task)) return {};
  if (all <= 0 || done < 0 || done > all) return task;  // 0 is an unknown total
  if (!in_bytes) return task + ": step " + std::to_string(done) + " of " + std::to_string(all);
  int quarters = 0;
  while (quarters < 4 && done >= all / 4 * (quarters + 1) + (all % 4 * (quarters + 1) + 3) / 4)
    ++quarters;
  return task + ": " + std::to_string(quarters * 25) + " % of " +
         std::to_string(all / megabyte + (all % megabyte != 0 ? 1 : 0)) + " MB";
}

bool stage_progress::heard(std::string_view line, reactor::steady_time now) {
  if (now < again_) return false;
  std::string words = progress_words(line);
  if (words.empty() || words == words_) return false;
  words_ = std::move(words);
  again_ = now + pause;
  return true;
}

}  // namespace bootc
