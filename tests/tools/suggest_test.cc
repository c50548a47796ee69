#include "tools/cli/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace vit::tools {
namespace {

const std::vector<std::string> kOptions{"model",     "top",  "json",    "logits",     "image-size",
                                        "positions", "exif", "threads", "temperature"};

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("classify", "classify"), 0u);
  EXPECT_EQ(edit_distance("clasify", "classify"), 1u);
  EXPECT_EQ(edit_distance("classsify", "classify"), 1u);
  EXPECT_EQ(edit_distance("clussify", "classify"), 1u);
  EXPECT_EQ(edit_distance("calssify", "classify"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsTheOptionThatWasMeant) {
  EXPECT_EQ(nearest("jsn", kOptions), "json");
  EXPECT_EQ(nearest("tpo", kOptions), "top");
  EXPECT_EQ(nearest("imagesize", kOptions), "image-size");
  EXPECT_EQ(nearest("thraeds", kOptions), "threads");
}

TEST(Nearest, TakesABeginningOfOneOptionForThatOption) {
  EXPECT_EQ(nearest("temp", kOptions), "temperature");
  EXPECT_EQ(nearest("pos", kOptions), "positions");
}

TEST(Nearest, KeepsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("quantize", kOptions), "");
  EXPECT_EQ(nearest("", kOptions), "");
  EXPECT_EQ(nearest("x", kOptions), "");
}

}  // namespace
}  // namespace vit::tools
