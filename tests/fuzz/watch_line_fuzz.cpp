#include "k8s/informer/list_splitter.hpp"
#include "k8s/informer/selector.hpp"
#include "k8s/views/lease.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s;

/// What was read once reads the same again, and equals itself.
template <class View>
void read_as(std::string_view text) {
  const auto view = parse_view<View>(text);
  const auto again = parse_view<View>(text);
  if (view.has_value() != again.has_value()) std::abort();
  if (view && !(*view == *again)) std::abort();
  if (view && view->meta.resource_version.text() != again->meta.resource_version.text())
    std::abort();
}

void read_event(std::string_view line) {
  wire_parser& parser = shared_parser();
  const auto event = parser.parse(line);
  if (!event) return;
  const wire_value object = (*event)["object"];
  (void)(*event)["type"].text();
  (void)pod::parse(object);
  object.refuse_duplicates();
  (void)label_selector::parse(object["spec"]["selector"]);
  const std::string copy = object.json();
  if (parser.problem()) return;
  read_as<pod>(copy);
}

/// However a list arrives, its objects are the same.
void split(std::string_view text) {
  const auto run = [&](std::size_t piece) {
    list_splitter splitter(4096);
    std::vector<std::string> found;
    bool good = true;
    for (std::size_t at = 0; good && at < text.size(); at += piece) {
      const std::string part(text.substr(at, piece));
      good = splitter
                 .feed(part,
                       [&](std::string_view object) {
                         found.emplace_back(object);
                         return true;
                       })
                 .has_value();
    }
    if (good) good = splitter.finish().has_value();
    if (good) found.push_back(splitter.outer());
    if (!good) found.clear();
    return found;
  };
  if (run(1) != run(text.size() + 1)) std::abort();
}

}  // namespace

/// One watch event, one object, one list and one selector from a server that may send anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_event(text);
  read_as<pod>(text);
  read_as<node>(text);
  read_as<secret>(text);
  read_as<lease>(text);
  split(text);
  if (const auto selector = label_selector::parse(text)) {
    const auto again = label_selector::parse(selector->text());
    if (!again || !(*again == *selector)) std::abort();
  }
  const resource_version version(text);
  if (version.text() != text) std::abort();
  if (uid(text).text() != text) std::abort();
  return 0;
}
