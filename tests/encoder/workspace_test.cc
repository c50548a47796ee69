#include "vit/encoder/workspace.h"

#include <gtest/gtest.h>

namespace vit {
namespace {

TEST(Workspace, NoRowsLieAPowerOfTwoApart) {
  Workspace workspace({.tokens = 5, .width = 1024, .hidden = 4096});
  EXPECT_EQ(workspace.normed(5, 1024).stride, 1040u);
  EXPECT_EQ(workspace.hidden(5, 4096).stride, 4112u);
  EXPECT_EQ(workspace.hidden(5, 768).stride, 768u);
}

TEST(Workspace, NarrowerViewsFitWhateverTheirStride) {
  Workspace workspace({.tokens = 3, .width = 1030});
  const MatrixView view = workspace.normed(3, 1024);  // 1040 apart, more than the 1030 asked for
  const MatrixView whole = workspace.normed(3, 1030);
  EXPECT_EQ(view.stride, 1040u);
  EXPECT_EQ(view.data, whole.data) << "the same buffer";
  view.row(2)[1023] = 1.0f;  // within it, which the sanitizer checks
}

}  // namespace
}  // namespace vit
