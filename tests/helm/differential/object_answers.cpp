// Our side of the comparison with apimachinery: reads questions as objects/main.go does, one JSON
// object a line.
#include "tests/helm/objects/merge_answers.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>

int main() {
  namespace json = boost::json;
  std::string line;
  while (std::getline(std::cin, line)) {
    json::parse_options deep;
    deep.max_depth = 200;
    const json::value q = json::parse(line, {}, deep);
    const auto a = helm::objects::testing::answer(q.as_object());
    std::cout << json::serialize(json::object{{"out", a.out}, {"err", a.err}}) << '\n'
              << std::flush;
  }
}
