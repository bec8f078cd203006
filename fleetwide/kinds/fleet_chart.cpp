#include "fleetwide/kinds/fleet_chart.hpp"

#include "fleetwide/kinds/names.hpp"

namespace fleetwide {

const k8s::resource& fleet_charts() {
  static const k8s::resource r{std::string(names::group), std::string(names::version),
                               "fleetcharts", "FleetChart", true};
  return r;
}

fleet_chart fleet_chart::parse(k8s::wire_value object) {
  fleet_chart out;
  out.kind = names::fleet_chart;
  const k8s::wire_value spec = object["spec"];
  out.chart = chart_spec::parse(spec, object["metadata"]["name"].text(), out.problem);
  out.template_json = out.chart.content_json();
  out.ref = out.chart.reference();
  out.claim = out.chart.ns + "/" + out.chart.release;
  const std::string_view removal = spec["uninstall"].text();
  out.removes = removal != "Orphan";
  if (!removal.empty() && removal != "Orphan" && removal != "Delete")
    note_problem(out,
                 "spec.uninstall: \"" + std::string(removal) + "\" is neither Delete nor Orphan");
  read_common(out, object);
  return out;
}

}  // namespace fleetwide
