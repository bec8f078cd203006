#include "helm/render.hpp"
#include "helm/yaml_reader.hpp"

#include <cstdint>
#include <string>

/// Any text as a template: it parses or says why, renders within its limits or says why.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto c = std::make_shared<helm::chart>();
  c->meta.name = "c";
  c->meta.api_version = "v2";
  c->meta.version = "1.0.0";
  c->files = {{"a.txt", "text\n"}};
  c->templates = {{"templates/x.yaml", std::string(reinterpret_cast<const char*>(data), size)},
                  {"templates/_h.tpl", "{{ define \"h\" }}<{{ . }}>{{ end }}"}};
  const auto parsed = helm::parsed_chart::parse(c);
  if (!parsed) return 0;
  helm::render_options options;
  options.limits.output_bytes = 1 << 16;
  options.limits.actions = 2000;
  const auto values = helm::read_yaml_map("s: x\ni: 3\nl: [1, a, null]\nm: {a: {b: 1}}\n");
  static_cast<void>(parsed->render(*values, {}, helm::default_capabilities(), options));
  return 0;
}
