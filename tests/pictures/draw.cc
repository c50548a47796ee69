#include "tests/pictures/draw.h"

#include <cmath>
#include <opencv2/imgproc.hpp>

namespace vit::pictures {
namespace {

cv::Point pixel(cv::Point2d point) {
  return {cvRound(point.x * kCanvas), cvRound(point.y * kCanvas)};
}

cv::Mat no_mask() {
  return cv::Mat::zeros(kCanvas, kCanvas, CV_8UC1);
}

constexpr double kLight = 0.45;  // how much brighter the top of a body is than its bottom

void blend_pixel(const cv::Mat& mask, Rgb colour, double opacity, cv::Point at, cv::Mat& image) {
  const auto part = static_cast<float>(opacity * mask.at<std::uint8_t>(at) / 255.0);
  auto& pixel = image.at<cv::Vec3f>(at);
  for (int c = 0; c < 3; ++c) pixel[c] += part * (static_cast<float>(colour[c]) - pixel[c]);
}

}  // namespace

Points arc(cv::Point2d centre, cv::Size2d radii, double from, double to) {
  Points points;
  for (int i = 0; i <= 40; ++i) {
    const double angle = (from + (to - from) * i / 40.0) * CV_PI / 180.0;
    points.emplace_back(centre.x + radii.width * std::cos(angle),
                        centre.y + radii.height * std::sin(angle));
  }
  return points;
}

void Scene::blend(const cv::Mat& mask, Rgb colour, double opacity) {
  for (int y = 0; y < kCanvas; ++y)
    for (int x = 0; x < kCanvas; ++x) blend_pixel(mask, colour, opacity, {x, y}, image_);
}

void Scene::blend_body(const cv::Mat& mask, Rgb colour) {
  const cv::Rect box = cv::boundingRect(mask);
  for (int y = box.y; y < box.y + box.height; ++y) {
    const double light = 1.0 + kLight * (0.5 - static_cast<double>(y - box.y) / box.height);
    for (int x = box.x; x < box.x + box.width; ++x)
      blend_pixel(mask, colour * light, 1.0, {x, y}, image_);
  }
}

void Scene::sky(Rgb above, Rgb below, double horizon) {
  const int rows = cvRound(horizon * kCanvas);
  for (int y = 0; y < rows; ++y)
    image_.row(y).setTo(above + (below - above) * (static_cast<double>(y) / rows));
}

void Scene::ground(Rgb near, Rgb far, double horizon, double roughness) {
  const int first = cvRound(horizon * kCanvas);
  for (int y = first; y < kCanvas; ++y)
    image_.row(y).setTo(far + (near - far) * (static_cast<double>(y - first) / (kCanvas - first)));
  cv::Mat noise(kCanvas - first, kCanvas, CV_32FC1);
  random_.fill(noise, cv::RNG::NORMAL, 0.0, 1.0);
  cv::GaussianBlur(noise, noise, {0, 0}, 9.0, 3.0);  // ripples lie flat
  cv::Mat part = image_.rowRange(first, kCanvas), channels;
  cv::merge(std::vector<cv::Mat>{noise, noise, noise}, channels);
  part += channels * (roughness * 18.0);
}

void Scene::clouds(int count, double highest, double lowest) {
  for (int i = 0; i < count; ++i) {
    cv::Mat mask = no_mask();
    const cv::Point2d centre(random_.uniform(0.0, 1.0), random_.uniform(highest, lowest));
    for (int k = 0; k < 7; ++k)
      cv::circle(
          mask,
          pixel(centre + cv::Point2d(random_.uniform(-0.14, 0.14), random_.uniform(-0.025, 0.025))),
          cvRound(kCanvas * random_.uniform(0.02, 0.06)), 255, cv::FILLED);
    cv::GaussianBlur(mask, mask, {0, 0}, 12.0);
    blend(mask, {250, 250, 252}, 0.75);
  }
}

void Scene::foliage(Rgb colour, double top, double bottom, int count) {
  for (int i = 0; i < count; ++i) {
    cv::Mat mask = no_mask();
    cv::ellipse(mask, pixel({random_.uniform(0.0, 1.0), random_.uniform(top, bottom)}),
                {random_.uniform(10, 46), random_.uniform(8, 30)}, random_.uniform(0.0, 180.0), 0,
                360, 255, cv::FILLED);
    cv::GaussianBlur(mask, mask, {0, 0}, 6.0);
    blend(mask, colour * random_.uniform(0.6, 1.35), 0.5);
  }
}

void Scene::polygon(const Points& points, Rgb colour) {
  cv::Mat mask = no_mask();
  std::vector<cv::Point> corners;
  for (const auto& point : points) corners.push_back(pixel(point));
  cv::fillPoly(mask, std::vector<std::vector<cv::Point>>{corners}, 255, cv::LINE_AA);
  blend_body(mask, colour);
}

void Scene::ellipse(cv::Point2d centre, cv::Size2d radii, double degrees, Rgb colour) {
  cv::Mat mask = no_mask();
  cv::ellipse(mask, pixel(centre),
              {cvRound(radii.width * kCanvas), cvRound(radii.height * kCanvas)}, degrees, 0, 360,
              255, cv::FILLED, cv::LINE_AA);
  blend_body(mask, colour);
}

void Scene::line(const Points& points, double thickness, Rgb colour) {
  cv::Mat mask = no_mask();
  for (size_t i = 1; i < points.size(); ++i)
    cv::line(mask, pixel(points[i - 1]), pixel(points[i]), 255,
             std::max(1, cvRound(thickness * kCanvas)), cv::LINE_AA);
  blend(mask, colour, 1.0);
}

void Scene::disc(cv::Point2d centre, double radius, Rgb colour) {
  ellipse(centre, {radius, radius}, 0.0, colour);
}

void Scene::wheel(cv::Point2d centre, double radius) {
  disc(centre, radius, {24, 24, 26});
  disc(centre, 0.55 * radius, {165, 168, 172});
  disc(centre, 0.2 * radius, {70, 72, 76});
}

void Scene::shadow(cv::Point2d centre, cv::Size2d radii) {
  cv::Mat mask = no_mask();
  cv::ellipse(mask, pixel(centre),
              {cvRound(radii.width * kCanvas), cvRound(radii.height * kCanvas)}, 0, 0, 360, 255,
              cv::FILLED);
  cv::GaussianBlur(mask, mask, {0, 0}, 10.0);
  blend(mask, {20, 22, 24}, 0.55);
}

cv::Mat Scene::finish(int edge, double blur, double grain) {
  cv::Mat small, bgr;
  cv::GaussianBlur(image_, image_, {0, 0}, blur);
  cv::resize(image_, small, {edge, edge}, 0.0, 0.0, cv::INTER_AREA);
  cv::Mat noise(small.size(), small.type());
  random_.fill(noise, cv::RNG::NORMAL, 0.0, grain);
  small += noise;
  small.convertTo(small, CV_8UC3);
  cv::cvtColor(small, bgr, cv::COLOR_RGB2BGR);
  return bgr;
}

}  // namespace vit::pictures
