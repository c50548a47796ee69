#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tools/attention/index_page.h"
#include "tools/attention/raw.h"
#include "tools/draw/heatmap.h"
#include "tools/output/html.h"
#include "tools/output/numpy.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Explorer, EncodesBytesInBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(std::string("\xff\x00\x80", 3)), "/wCA");
}

TEST(Raw, WritesNumPyFiles) {
  const std::vector<float> numbers{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  const std::string bytes = npy_bytes(numbers, {2, 3});
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const size_t length =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0u);
  EXPECT_EQ(bytes[9 + length], '\n');
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), }"));
  std::vector<float> read(6);
  std::memcpy(read.data(), bytes.data() + 10 + length, 24);
  EXPECT_EQ(read, numbers);
  EXPECT_EQ(bytes.size(), 10 + length + 24);
}

TEST(HtmlPage, HasAScriptOnlyWhereThereIsOne) {
  EXPECT_EQ(html_page({.title = "a &amp; b", .style = "p{}", .body = "<p>c</p>\n"}),
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
            "<title>a &amp; b</title>\n<style>p{}</style>\n<main>\n<p>c</p>\n</main>\n</html>\n");
  EXPECT_THAT(html_page({.title = "a", .style = "", .body = "", .script = "f();"}),
              HasSubstr("</main>\n<script>f();</script>\n</html>\n"));
}

TEST(IndexPage, KeepsNamesFromBecomingHtml) {
  EXPECT_EQ(html_escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
  EXPECT_EQ(url_escaped("a b#\"c.png"), "a%20b%23%22c.png");
  const std::string page = index_page("m", {{"<x>.jpg", "maps-x.png", "cat 9%"}, {"b", "", "no"}});
  EXPECT_THAT(page, HasSubstr("<img loading=\"lazy\" src=\"maps-x.png\" alt=\"cat 9%\">"));
  EXPECT_THAT(page, HasSubstr("&lt;x&gt;.jpg"));
  EXPECT_THAT(page, HasSubstr("<li><p><b>no</b>"));
}

TEST(Heatmap, UpsamplesBetweenTheCentresOfPatches) {
  const std::vector<float> map{0.0f, 1.0f};
  const Box size{0, 0, 4, 1};
  EXPECT_THAT(upsampled(map, {1, 2}, size, Upsampling::kNearest), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(upsampled(map, {1, 2}, size, Upsampling::kBilinear),
              ElementsAre(0.0f, 0.25f, 0.75f, 1.0f));
}

TEST(Heatmap, CubicUpsamplingPassesThroughTheCentres) {
  const std::vector<float> map{0.0f, 3.0f, 1.0f, 2.0f};
  const auto out = upsampled(map, {1, 4}, {0, 0, 12, 1}, Upsampling::kBicubic);
  for (size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(out[3 * i + 1], map[i], 1e-6);
  EXPECT_THAT(upsampled(std::vector<float>{5.0f, 5.0f}, {2, 1}, {0, 0, 3, 5}, Upsampling::kBicubic),
              testing::Each(testing::FloatNear(5.0f, 1e-5f)));
}

TEST(Heatmap, LeavesTheImageAloneAtAlphaZeroAndCoversItAtOne) {
  const Image image = blank(4, 2, {100, 100, 100});
  const std::vector<float> map{0.0f, 1.0f};
  OverlayLook look{.alpha = 0.0, .upsampling = Upsampling::kNearest};
  EXPECT_EQ(overlay(image, map, {1, 2}, look).pixels, image.pixels);
  look.alpha = 1.0;
  const Image covered = overlay(image, map, {1, 2}, look);
  const Colour last = colour_of(look.scale.colormap, 1.0);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), covered.row(0) + 9));
}

TEST(Heatmap, OutlinesASetOfPatches) {
  Image image = blank(40, 40);
  const std::vector<std::uint8_t> members{1, 0, 0, 0};
  contour(image, members, {2, 2}, {1, 2, 3});
  const auto drawn = [&](size_t x, size_t y) { return image.row(y)[3 * x] == 1; };
  EXPECT_TRUE(drawn(0, 10) && drawn(10, 0) && drawn(19, 10) && drawn(10, 19));
  EXPECT_FALSE(drawn(10, 10) || drawn(20, 10) || drawn(30, 30));
}

}  // namespace
}  // namespace vit::tools
