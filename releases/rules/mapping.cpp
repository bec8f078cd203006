#include "releases/rules/mapping.hpp"

#include "releases/rules/answer.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/rules/typical.hpp"
#include "releases/rules/views.hpp"

namespace policies {

template <>
struct view_record<releases::baked_tool> {
  static constexpr const char* name = "tool";
  static constexpr field fields[] = {
      field_of<&releases::baked_tool::name>("name"),
      field_of<&releases::baked_tool::version>("version"),
  };
};

template <>
struct view_record<releases::image_tools> {
  static constexpr const char* name = "image and its tools";
  static constexpr field fields[] = {
      field_of<&releases::image_tools::image>("image"),
      field_of<&releases::image_tools::tools>("tools"),
  };
};

template <>
struct view_record<releases::map_question> {
  static constexpr const char* name = "question";
  static constexpr field fields[] = {
      field_of<&releases::map_question::release>("release"),
      field_of<&releases::map_question::pools>("pools"),
      field_of<&releases::map_question::catalogue>("catalogue"),
      field_of<&releases::map_question::values>("values"),
      field_of<&releases::map_question::tools>("tools"),
      field_of<&releases::map_question::known_tools>("known_tools"),
  };
};

namespace releases {
namespace {

using reactor::result;

constexpr std::int64_t instructions_per_entry = 2'000;

image_segment read_segment(answer_reader& from) {
  image_segment s;
  s.name = from.text("name");
  s.text = from.text("text");
  s.source = from.text("source");
  return s;
}

pool_image read_image(answer_reader& from) {
  pool_image i;
  i.pool = from.text("pool");
  i.image = from.text("image");
  i.rule = from.text("rule");
  i.segments = from.list<image_segment>("segments", read_segment);
  i.image_version = from.text("image_version");
  i.tags = from.texts("tags");
  i.ref = from.text("ref");
  i.length = from.number("length");
  i.limit = from.number("limit");
  return i;
}

baked_tool read_tool(answer_reader& from) {
  baked_tool t;
  t.name = from.text("name");
  t.version = from.text("version");
  return t;
}

}  // namespace

std::int64_t release_instructions(std::size_t entries) {
  return unit_instructions + instructions_per_entry * static_cast<std::int64_t>(entries);
}

result<map_answer> read_map_answer(const value& answer, const map_question& question) {
  std::optional<reactor::fault> wrong;
  answer_reader from(answer, "", wrong);
  map_answer out;
  out.provider = from.text("provider");
  out.chart = from.text("chart");
  out.explained = from.text("explained");
  out.images = from.list<pool_image>("images", read_image);
  out.inside = from.list<baked_tool>("inside", read_tool);
  out.findings = read_findings(from);
  from.done();
  out.verdict = decide(out.findings);
  // What is denied has no name that somebody could use all the same.
  if (out.verdict == decision::deny) out.images.clear();
  const std::size_t expected = std::max<std::size_t>(1, question.pools.size());
  if (!wrong && out.verdict != decision::deny && out.images.size() != expected)
    from.refuse("images", "expected one a pool, " + std::to_string(expected) + ", got " +
                              std::to_string(out.images.size()));
  for (std::size_t i = 0; !wrong && i < out.images.size() && i < question.pools.size(); ++i) {
    if (out.images[i].pool != question.pools[i].name)
      from.refuse("images[" + std::to_string(i + 1) + "].pool",
                  "expected " + question.pools[i].name + ", the pool at this place");
  }
  if (wrong) return *wrong;
  return out;
}

hook map_hook() {
  map_question q;
  q.release = typical_release();
  hook h = hook_of<map_answer>("release.map", std::move(q), 4, nullptr);
  h.takes = [](const value& answer, const hook::asking& of) {
    map_question asked;
    const value question = plain_argument(of.question, 0);
    const value* pools = question.find("pools");
    if (const value::array* all = pools ? pools->if_array() : nullptr)
      for (const value& one : *all) asked.pools.push_back({.name = one.text_of("name")});
    return outcome_of(read_map_answer(answer, asked));
  };
  return h;
}

reactor::awaitable<result<map_answer>> map_release(host& packs, subject s,
                                                   std::shared_ptr<const map_question> question) {
  const std::size_t entries = question->release->components.size() +
                              question->release->apps.size() + question->pools.size() * 10 +
                              question->tools.size() + 5 * question->known_tools.size() +
                              (question->catalogue ? question->catalogue->size() / 50 : 0);
  std::vector<argument> arguments;
  arguments.emplace_back(view_of(question));
  const auto answer = std::make_shared<map_answer>();
  judge accept = [answer, question](const value& proposed) -> result<void> {
    auto read = read_map_answer(proposed, *question);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("release.map", std::move(s), std::move(arguments),
                                  release_instructions(entries), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->version = made->version;
  answer->cost = made->cost;
  co_return std::move(*answer);
}

}  // namespace releases
}  // namespace policies
