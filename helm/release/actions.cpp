#include "helm/release/actions.hpp"

namespace helm::release {

release_actions::release_actions(reactor::loop& l, k8s::client& api, objects::cluster_objects& on,
                                 cluster_records& records, settings s)
    : bench_{l, api, on, records, std::move(s)} {}

awaitable<outcome<record>> release_actions::install(install_request r) {
  return install_.run(std::move(r));
}

awaitable<outcome<record>> release_actions::upgrade(upgrade_request r) {
  return upgrade_.run(std::move(r));
}

awaitable<outcome<done>> release_actions::rollback(rollback_request r) {
  return rollback_.run(std::move(r));
}

awaitable<outcome<std::string>> release_actions::uninstall(uninstall_request r) {
  return uninstall_.run(std::move(r));
}

awaitable<test_outcome> release_actions::test(test_request r) {
  return test_.run(std::move(r));
}

awaitable<outcome<done>> release_actions::test_logs(record tested, test_request r,
                                                    std::string* into) {
  return test_.logs(std::move(tested), std::move(r), into);
}

awaitable<outcome<history>> release_actions::revisions(std::string name) {
  return keep_.revisions(std::move(name));
}

awaitable<outcome<record>> release_actions::find(std::string name, int revision) {
  return keep_.find(std::move(name), revision);
}

awaitable<outcome<history>> release_actions::list() {
  return bench_.records.list();
}

awaitable<outcome<objects::shown_objects>> release_actions::shown(record r,
                                                                  objects::shown_as form) {
  auto list = co_await bench_.on.build(r.manifest, r.ns);
  if (!list) co_return list.error();
  objects::object_list all = std::move(*list);
  objects::shown_objects found = co_await objects::read_shown(bench_.api, std::move(all), form);
  co_return found;
}

awaitable<outcome<done>> release_actions::reach() {
  return bench_.reach();
}

awaitable<std::optional<problem>> release_actions::settle() {
  auto ended = co_await install_.settle();
  if (!ended) ended = co_await upgrade_.settle();
  if (!ended) ended = co_await rollback_.settle();
  co_return ended;
}

}  // namespace helm::release
