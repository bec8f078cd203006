#include "formats/yaml/reader.hpp"
#include "helm/render/render.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

/// Any text as a template: it parses or says why, renders within its limits or says why.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto c = std::make_shared<helm::chart>();
  c->meta.name = "c";
  c->meta.api_version = "v2";
  c->meta.version = "1.0.0";
  c->files = {{"a.txt", "text\n"}};
  c->templates = {{"templates/x.yaml", std::string(reinterpret_cast<const char*>(data), size)},
                  {"templates/_h.tpl", "{{ define \"named\" }}<{{ . }}>{{ end }}"}};
  const auto parsed = helm::parsed_chart::parse(c);
  if (!parsed) return 0;
  helm::render_options options;
  options.limits.output_bytes = 1 << 16;
  options.limits.actions = 2000;
  options.limits.walk_steps = 100'000;
  // Chance and the clock repeat themselves, so that a finding does.
  std::uint8_t last = 0;
  options.runtime.random = [&last](std::span<unsigned char> bytes) {
    std::ranges::generate(bytes,
                          [&last] { return last = static_cast<std::uint8_t>(last * 5 + 3); });
  };
  options.runtime.now = [] {
    return std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000));
  };
  const auto values = formats::read_go_yaml_map(
      "s: hello\ne: \"\"\nml: \"x\\ny: 1\\n\"\ni: 3\nf: 2.5\nt: true\nn: null\nl: [1, two, null, "
      "[a], {k: v}]\n"
      "ls: [b, a, c]\nm: {b: 1, a: {c: x}, n: null}\ndeep: {x: {y: {z: end}}}\n");
  static_cast<void>(parsed->render(*values, {}, helm::default_capabilities(), options));
  return 0;
}
