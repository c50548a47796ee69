/// What the pictures are made of: backgrounds, and shapes with light from above. All lengths are
/// parts of the picture's edge; y points down.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace vit::pictures {

constexpr int kCanvas = 512;  ///< drawn large, then reduced: edges become smooth

using Points = std::vector<cv::Point2d>;
using Rgb = cv::Scalar;  ///< red, green, blue

/// Points on an ellipse between two angles in degrees; 0 is right, 90 is below.
Points arc(cv::Point2d centre, cv::Size2d radii, double from, double to);

class Scene {
 public:
  explicit Scene(std::uint64_t seed) : random_(seed) {}

  /// From `above` at the top to `below` at `horizon`.
  void sky(Rgb above, Rgb below, double horizon);
  void ground(Rgb near, Rgb far, double horizon, double roughness);
  void clouds(int count, double highest, double lowest);
  /// Soft spots of other shades, as leaves and grass have from afar.
  void foliage(Rgb colour, double top, double bottom, int count);

  void polygon(const Points& points, Rgb colour);
  void ellipse(cv::Point2d centre, cv::Size2d radii, double degrees, Rgb colour);
  void line(const Points& points, double thickness, Rgb colour);
  void disc(cv::Point2d centre, double radius, Rgb colour);
  /// A dark tyre with a hub.
  void wheel(cv::Point2d centre, double radius);
  /// What lies on the ground under a thing.
  void shadow(cv::Point2d centre, cv::Size2d radii);
  /// Blurred a little, with the grain of a camera, `edge` pixels wide and high.
  cv::Mat finish(int edge, double blur, double grain);

 private:
  void blend(const cv::Mat& mask, Rgb colour, double opacity);
  /// With light from above, so that bodies look round.
  void blend_body(const cv::Mat& mask, Rgb colour);

  cv::Mat image_{kCanvas, kCanvas, CV_32FC3, cv::Scalar::all(200)};  // red, green, blue
  cv::RNG random_;
};

}  // namespace vit::pictures
