/// What RandAugment does to an image: small changes of shape and colour, on bytes.
#pragma once

#include <array>

#include "patch/image/image.h"

namespace vit::train {

using patch::Image;
using std::size_t;

/// Where an output pixel comes from: source = matrix · (x, y, 1), around the image's centre.
/// Bilinear; grey outside.
Image warp(const Image& image, const std::array<double, 6>& matrix);

Image rotate(const Image& image, double degrees);
/// `across` and `down` shift each row or column by that share of its distance from the centre.
Image shear(const Image& image, double across, double down);
/// In shares of the image's size.
Image translate(const Image& image, double across, double down);
void flip(Image& image);

// 1 changes nothing, 0 takes it all away.
void adjust_brightness(Image& image, double factor);
void adjust_contrast(Image& image, double factor);
void adjust_saturation(Image& image, double factor);
void adjust_sharpness(Image& image, double factor);

/// Keeps the `bits` highest bits.
void posterize(Image& image, size_t bits);
/// Inverts what is at `threshold` or above.
void solarize(Image& image, size_t threshold);
/// Stretches each channel to the whole range.
void stretch_contrast(Image& image);
/// Makes each channel's histogram flat.
void equalize(Image& image);

}  // namespace vit::train
