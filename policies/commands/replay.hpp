#pragma once

#include "app/output.hpp"
#include "policies/host/host.hpp"
#include "policies/host/record/record.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// A question of a record that is answered otherwise now.
struct changed_answer {
  std::size_t question = 0;  // its number in the record
  std::string at, hook, cluster, unit;
  std::string was_pack, is_pack;
  std::string was, is;  // as JSON, or the fault as a sentence
};

struct replayed {
  std::size_t questions = 0;
  std::vector<changed_answer> changed;
};

/// Three lines for a person: the question, and both answers around the place where they part.
page row_of(const changed_answer& c);

/// Asks `packs` everything that the record has, as it was asked then.
reactor::awaitable<replayed> ask_again(policies::host& packs,
                                       std::vector<policies::recorded_question> questions);

}  // namespace cli
