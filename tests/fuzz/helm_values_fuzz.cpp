#include "formats/yaml/reader.hpp"
#include "helm/render/render.hpp"
#include "helm/values/values.hpp"

#include <cstdint>
#include <string>

namespace {

constexpr std::string_view over_every_value = R"(
{{- define "walk" }}{{ kindOf . }} {{ toYaml . | nindent 2 }} {{ toJson . | quote }} {{ toToml . }}
{{- if kindIs "map" . }}{{ range $k, $v := . }}{{ $k | trunc 63 | kebabcase }}={{ include "walk" $v }}{{ end }}{{ end }}
{{- if kindIs "slice" . }}{{ range . }}{{ include "walk" . }}{{ end }}{{ compact . | uniq | len }}{{ end }}
{{- if kindIs "string" . }}{{ . | trim | upper | b64enc | b64dec | sha256sum }}{{ tpl . $.top }}{{ fromYaml . | toJson }}
{{- regexReplaceAll "[^a-z]+" . "-" }}{{ semverCompare ">=1.0.0" (regexFind "[0-9.]+" . | default "1") }}{{ end }}
{{- if kindIs "float64" . }}{{ int . }}{{ add . 1 }}{{ printf "%d %v %g" (int64 .) . . }}{{ round . 2 }}{{ end }}
{{- end }}
{{- include "walk" .Values }}
{{ .Values.a.b.c | default "none" }}{{ merge (deepCopy .Values) (dict "x" 1) | toYamlPretty }}
)";

helm::chart_ptr fixed_chart() {
  auto c = std::make_shared<helm::chart>();
  c->meta.name = "c";
  c->meta.api_version = "v2";
  c->meta.version = "1.0.0";
  c->values =
      *formats::read_go_yaml_map("a: {b: {c: 1}}\nglobal: {g: x}\nlist: [1, 2]\nname: text\n");
  c->templates = {{"templates/x.yaml", std::string(over_every_value)}};
  return c;
}

}  // namespace

/// Any text as the values of one chart whose template looks at every value in many ways.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const helm::chart_ptr chart = fixed_chart();
  static const auto parsed = helm::parsed_chart::parse(chart);
  const auto user = formats::read_go_yaml_map({reinterpret_cast<const char*>(data), size});
  if (!user) return 0;
  const auto values =
      helm::coalesce_values(*chart, *user, helm::nulls::remove, [](const std::string&) {});
  if (!values) return 0;
  helm::render_options options;
  options.limits.output_bytes = 1 << 18;
  options.limits.actions = 20000;
  static_cast<void>(parsed->render(*values, {}, helm::default_capabilities(), options));
  return 0;
}
