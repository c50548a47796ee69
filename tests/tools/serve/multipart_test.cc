#include "tools/serve/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/serve/status_error.h"

namespace vit::tools::serve {
namespace {

std::string problem(const std::string& body, const std::string& boundary = "b") {
  try {
    parse_form(body, boundary, 3);
  } catch (const StatusError& error) {
    return std::to_string(error.status()) + " " + error.what();
  }
  return "none";
}

TEST(Multipart, ReadsFilesAndFields) {
  const std::string body =
      "preamble\r\n--b\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\n3\r\n"
      "--b  \r\ncontent-disposition: form-data; filename=\"a;\\\"b.png\"; name=f\r\n"
      "Content-Type: image/png\r\n\r\n\r\n-bytes\r\n\r\n--b--\r\nepilogue";
  const auto parts = parse_form(body, "b", 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "k");
  EXPECT_FALSE(parts[0].is_file);
  EXPECT_EQ(parts[0].content, "3");
  EXPECT_EQ(parts[1].name, "f");
  EXPECT_EQ(parts[1].file_name, "a;\"b.png");
  EXPECT_TRUE(parts[1].is_file);
  EXPECT_EQ(parts[1].content, "\r\n-bytes\r\n");
  // Nothing of the content may begin like the boundary (RFC 2046).
  EXPECT_EQ(problem("--b\r\n\r\nx\r\n--bytes"), "400 multipart body: no line end after a boundary");
}

TEST(Multipart, FindsTheBoundaryInItsHeader) {
  EXPECT_EQ(form_boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(form_boundary("multipart/form-data; charset=x; Boundary=\"a b\""), "a b");
  EXPECT_EQ(form_boundary("multipart/form-data"), "");
  EXPECT_EQ(form_boundary("multipart/form-data; boundary=" + std::string(71, 'x')), "");
}

TEST(Multipart, SaysWhatIsWrong) {
  EXPECT_EQ(problem("", ""),
            "400 multipart body: the Content-Type header has no boundary of 1 to "
            "70 characters");
  EXPECT_EQ(problem("nothing"), "400 multipart body: its boundary is not in it");
  EXPECT_EQ(problem("--b"), "400 multipart body: no line end after a boundary");
  EXPECT_EQ(problem("--b\r\n"), "400 multipart body: it is cut short");
  EXPECT_EQ(problem("--b\r\n\r\nx"), "400 multipart body: it is cut short");
  EXPECT_EQ(problem("--b\r\nno colon\r\n\r\nx\r\n--b--"),
            "400 multipart body: a header of a part has no ':'");
  EXPECT_EQ(problem("--b\r\nA: " + std::string(9000, 'x') + "\r\n\r\nx\r\n--b--"),
            "400 multipart body: the headers of a part have no end within 8192 bytes");
  std::string many;
  for (int i = 0; i < 4; ++i) many += "--b\r\n\r\nx\r\n";
  EXPECT_EQ(problem(many + "--b--"), "413 multipart body: more than 3 parts");
  EXPECT_EQ(problem("--b--"), "none");
}

}  // namespace
}  // namespace vit::tools::serve
