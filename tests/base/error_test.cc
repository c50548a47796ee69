#include "vit/base/error.h"

#include <gtest/gtest.h>

namespace vit {
namespace {

template <typename... Parts>
Error error_of(const Parts&... parts) {
  try {
    fail(parts...);
  } catch (const Error& error) {
    return error;
  }
}

TEST(Error, TellsThePlaceFromTheReason) {
  const Error error = error_of("m.pth", ": holds ", 3, " tensors: expected 4");
  EXPECT_STREQ(error.what(), "m.pth: holds 3 tensors: expected 4");
  EXPECT_EQ(error.where(), "m.pth");
  EXPECT_EQ(error.reason(), "holds 3 tensors: expected 4");
}

TEST(Error, MayBeAboutNoPlace) {
  for (const auto& error : {error_of("patch size ", 0, ": at least 1"), error_of("no memory"),
                            Error("a.png: not thrown by fail()"), error_of("", ": no name")}) {
    EXPECT_EQ(error.where(), "") << error.what();
    EXPECT_EQ(error.reason(), error.what());
  }
}

TEST(Error, KeepsItsPlaceWhereAdviceIsAdded) {
  const Error error = error_of(error_of("m.pth", ": is damaged"), "; restore a copy");
  EXPECT_STREQ(error.what(), "m.pth: is damaged; restore a copy");
  EXPECT_EQ(error.where(), "m.pth");
}

TEST(Error, LeavesOutAPlaceThatTheReaderKnows) {
  const Error error = error_of("photos.tar: member 3", ": is cut short");
  EXPECT_EQ(error.reason_at("photos.tar: member 3"), "is cut short");
  EXPECT_EQ(error.reason_at("photos.tar"), "member 3: is cut short");
  EXPECT_EQ(error.reason_at("photos.ta"), error.what());
  EXPECT_EQ(error.reason_at("other.tar"), error.what());
  EXPECT_EQ(error.reason_at(""), error.what());
  EXPECT_EQ(error_of("expected: got").reason_at("expected"), "expected: got");
}

}  // namespace
}  // namespace vit
