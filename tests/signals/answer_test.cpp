// What servers of signals answer, the honest and the other ones.
#include "signals/answer.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace signals {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const reactor::wall_time noon{std::chrono::seconds(1'795'428'000)};

std::string success(const std::string& type, const std::string& result) {
  return R"({"status":"success","data":{"resultType":")" + type + R"(","result":)" + result + "}}";
}
std::string sample(const std::string& value, const std::string& at = "1795428000.781") {
  return "[" + at + ",\"" + value + "\"]";
}
std::string vector_of(const std::string& value, const std::string& at = "1795428000.781") {
  return success("vector", R"([{"metric":{"job":"web"},"value":)" + sample(value, at) + "}]");
}

reading read(const std::string& body, int status = 200) {
  return read_prometheus(status, body, noon, 60s);
}

TEST(PrometheusAnswer, IsAScalarOrAVectorOfOneSample) {
  EXPECT_EQ(read(vector_of("0.25")).value, 0.25);
  EXPECT_EQ(read(success("scalar", sample("3"))).value, 3);
  EXPECT_EQ(read(vector_of("-1.5e-07")).value, -1.5e-07);
  EXPECT_EQ(read(vector_of("0", "1795427941")).value, 0) << "59 s old";
  EXPECT_EQ(read(vector_of("0", "1795428014")).value, 0) << "14 s ahead";
  EXPECT_EQ(read(vector_of("7")).unknown, "");
}

TEST(PrometheusAnswer, OtherwiseTheSignalIsUnknownAndItIsSaidWhy) {
  struct row {
    std::string body, says;
    int status = 200;
  };
  const std::string one = R"({"metric":{},"value":)" + sample("1") + "}";
  const std::vector<row> rows{
      {vector_of("NaN"), "the answer is NaN"},
      {vector_of("+Inf"), "infinite"},
      {vector_of("-Inf"), "infinite"},
      {vector_of("1e999"), "no number"},
      {vector_of("nan(1)"), "no number"},
      {vector_of(""), "no number"},
      {vector_of("1 "), "no number"},
      {success("vector", "[]"), "finds nothing"},
      {success("vector", "[" + one + "," + one + "]"), "2 series"},
      {success("vector", R"([{"metric":{},"histogram":[1795428000,{}]}])"), "no pair"},
      {success("vector", R"([1])"), "no pair"},
      {success("vector", R"({"metric":{}})"), "no result"},
      {success("matrix", R"([{"metric":{},"values":[[1795428000,"1"]]}])"), "matrix"},
      {success("string", sample("1")), "string"},
      {success("scalar", "[1795428000]"), "no pair"},
      {success("scalar", R"(["1795428000","1"])"), "no pair"},
      {success("scalar", R"([1795428000,1])"), "no pair"},
      {success("scalar", "{}"), "no pair"},
      {vector_of("1", "1795427939"), "61 s old"},
      {vector_of("1", "1795428016"), "16 s ahead"},
      {vector_of("1", "1e308"), "ahead"},
      {vector_of("1", "-1e308"), "old"},
      {R"({"status":"success"})", "no data"},
      {R"({"status":"success","data":{}})", "no resultType"},
      {R"({"status":"success","data":[]})", "no data"},
      {R"({"status":"success","warnings":["remote read failed"],)"
       R"("data":{"resultType":"scalar","result":)" +
           sample("1") + "}}",
       "partial: \"[\"remote read failed\"]\""},
      {R"({"status":"error","errorType":"bad_data","error":"1:3: parse error"})",
       "400: \"1:3: parse error\"", 400},
      {R"({"status":"error","error":"query timed out"})", "503: \"query timed out\"", 503},
      {vector_of("1"), "401", 401},
      {"<html><body>Welcome</body></html>", "no JSON: \"<html>"},
      {"<html>bad gateway</html>", "502", 502},
      {"", "no JSON"},
      {"", "500", 500},
      {"[]", "no JSON"},
      {"null", "no JSON"},
      {std::string(most_answer_bytes + 1, ' '), "too large"},
      {std::string(60'000, '['), "no JSON"},
  };
  for (const row& r : rows) {
    const reading got = read(r.body, r.status);
    EXPECT_FALSE(got.value) << r.body.substr(0, 200);
    EXPECT_THAT(got.unknown, HasSubstr(r.says)) << r.body.substr(0, 200);
    EXPECT_LT(got.unknown.size(), 300u);
  }
}

TEST(PrometheusAnswer, IsQuotedWithoutWhatMovesACursor) {
  const reading got = read("\x1b[2J secret");
  EXPECT_EQ(got.unknown.find('\x1b'), std::string::npos);
  EXPECT_EQ(read(success("\\u001b[2J", "[]")).unknown.find('\x1b'), std::string::npos);
}

TEST(NumberAnswer, IsAJsonNumberOrAnObjectWithAValue) {
  EXPECT_EQ(read_number(200, "0.5").value, 0.5);
  EXPECT_EQ(read_number(200, " 3\n").value, 3);
  EXPECT_EQ(read_number(200, R"({"value":-2,"unit":"ms"})").value, -2);
  for (const char* body : {"", "NaN", "\"1\"", "true", "null", "[1]", "{}", R"({"value":"1"})",
                           R"({"value":null})", R"({"value":{"value":1}})", "1 2", "<html>"})
    EXPECT_FALSE(read_number(200, body).value) << body;
  EXPECT_THAT(read_number(404, "1").unknown, HasSubstr("404"));
  EXPECT_THAT(read_number(200, std::string(most_answer_bytes + 1, '1')).unknown,
              HasSubstr("too large"));
  EXPECT_FALSE(read_number(200, "1e999").value);
}

}  // namespace
}  // namespace signals
