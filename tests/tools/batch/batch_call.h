/// What the tests of `vit batch` share: calls, inputs, and results in a form to compare.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/subprocess.h"

namespace vit::tools {

/// "batch -m MODEL -k 2 --quiet", and more.
std::vector<std::string> batch_arguments(std::vector<std::string> more);
Finished batch(std::vector<std::string> more);
Call batch_call(std::vector<std::string> more);
/// The images of write_images() into folder/name: `vit batch`, or `vit embed` for .npy.
Finished run_into(const Folder& folder, const std::string& name,
                  std::vector<std::string> more = {});

/// The bytes of an image that the model of the tests can classify.
std::string image_bytes();

/// A PNG of this size with content, so that it takes the program a while.
std::string photograph(std::size_t width, std::size_t height, unsigned seed);

/// Different small images: in/000.png …, every seventh of them broken.
void write_images(const Folder& folder, size_t count);

/// The rows of JSONL text, without its header.
std::vector<nlohmann::json> rows_of(const std::string& jsonl);

/// Text files as they are, a database as the text of its rows.
std::string content_of(const std::string& path);

}  // namespace vit::tools
