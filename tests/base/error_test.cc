#include "vit/base/error.h"

#include <gtest/gtest.h>

namespace vit {
namespace {

template <typename Throw>
Error error_of(const Throw& throw_it) {
  try {
    throw_it();
  } catch (const Error& error) {
    return error;
  }
  return Error("nothing was thrown");
}

Error error_at(const std::string& place, const std::string& reason) {
  return error_of([&] { fail_at(place, reason); });
}

TEST(Error, TellsThePlaceFromTheReason) {
  const Error error = error_of([] { fail_at("m.pth", "holds ", 3, " tensors: expected 4"); });
  EXPECT_STREQ(error.what(), "m.pth: holds 3 tensors: expected 4");
  EXPECT_EQ(error.where(), "m.pth");
  EXPECT_EQ(error.reason(), "holds 3 tensors: expected 4");
}

TEST(Error, MayBeAboutNoPlace) {
  for (const auto& error : {error_of([] { fail("patch size ", 0, ": at least 1"); }),
                            error_of([] { fail("no memory"); }),
                            Error("a.png: not thrown by fail_at()"), error_at("", "no name")}) {
    EXPECT_EQ(error.where(), "") << error.what();
    EXPECT_EQ(error.reason(), error.what());
  }
}

TEST(Error, SaysWhatInAFileItIsAbout) {
  const Error error = error_of([] {
    fail_at(Subject{"m.pth", "tensor 'x'"}, "has ", 9, " axes, at most ", 8);
  });
  EXPECT_STREQ(error.what(), "m.pth: tensor 'x' has 9 axes, at most 8");
  EXPECT_EQ(error.where(), "m.pth");
}

TEST(Error, KeepsItsPlaceWhereAdviceIsAdded) {
  const Error error =
      error_of([] { fail_again(error_at("m.pth", "is damaged"), "; restore a copy"); });
  EXPECT_STREQ(error.what(), "m.pth: is damaged; restore a copy");
  EXPECT_EQ(error.where(), "m.pth");
}

TEST(Error, LeavesOutAPlaceThatTheReaderKnows) {
  const Error error = error_at("photos.tar: member 3", "is cut short");
  EXPECT_EQ(error.reason_at("photos.tar: member 3"), "is cut short");
  EXPECT_EQ(error.reason_at("photos.tar"), "member 3: is cut short");
  EXPECT_EQ(error.reason_at("photos.ta"), error.what());
  EXPECT_EQ(error.reason_at("other.tar"), error.what());
  EXPECT_EQ(error.reason_at(""), error.what());
  EXPECT_EQ(error_of([] { fail("expected: got"); }).reason_at("expected"), "expected: got");
}

}  // namespace
}  // namespace vit
