#include "k8s/views/namespace_.hpp"

namespace k8s {

namespace_ namespace_::parse(wire_value object) {
  namespace_ n;
  n.meta = parse_meta(object, all_annotations);
  n.terminating = object["status"]["phase"].text() == "Terminating";
  return n;
}

}  // namespace k8s
