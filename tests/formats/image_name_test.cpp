#include "formats/image_name.hpp"

#include <gtest/gtest.h>

namespace formats {
namespace {

TEST(ImageName, BeginsWithARegistryWhereRuntimesFindOne) {
  struct row {
    const char *image, *registry;
  };
  for (const row& r : {row{"quay.io/org/app:v1", "quay.io"}, row{"localhost/app", "localhost"},
                       row{"host:5000/app", "host:5000"}, row{"[::1]:5000/app", "[::1]:5000"},
                       row{"Registry/app", "Registry"}, row{"org/app", ""}, row{"app", ""},
                       row{"app:v1.2", ""}, row{"localhost", ""}, row{"quay.io", ""}, row{"", ""},
                       row{"/app", ""}, row{"org/quay.io/app", ""}})
    EXPECT_EQ(registry_in(r.image), r.registry) << r.image;
}

}  // namespace
}  // namespace formats
