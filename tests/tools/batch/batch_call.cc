#include "tests/tools/batch/batch_call.h"

#include <sqlite3.h>
#include <zlib.h>

#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace vit::tools {
namespace {

/// A BMP of 8x8 pixels of one colour: the smallest image that needs no library to write.
std::string bitmap(unsigned char red, unsigned char green, unsigned char blue) {
  std::string bytes{"BM\xf6\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x08\0\0\0\x08\0\0\0\x01\0\x18\0", 30};
  bytes.resize(54);
  for (int i = 0; i < 64; ++i) {
    bytes += static_cast<char>(blue);
    bytes += static_cast<char>(green);
    bytes += static_cast<char>(red);
  }
  return bytes;
}

std::string big_endian(std::size_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift);
  return bytes;
}

/// `content`: the kind of the chunk, four letters, and its data.
std::string png_chunk(const std::string& content) {
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  return big_endian(content.size() - 4) + content +
         big_endian(crc32(0, bytes, static_cast<uInt>(content.size())));
}

std::string rows_of_database(const std::string& path) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
    throw std::runtime_error("cannot open " + path);
  std::string text;
  const auto add = [](void* out, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i)
      *static_cast<std::string*>(out) += std::string(values[i] ? values[i] : "NULL") + "|";
    *static_cast<std::string*>(out) += "\n";
    return 0;
  };
  sqlite3_exec(database, "SELECT * FROM results ORDER BY id", add, &text, nullptr);
  sqlite3_close(database);
  return text;
}

}  // namespace

std::vector<std::string> batch_arguments(std::vector<std::string> more) {
  std::vector<std::string> arguments{"batch", "-m", golden("hf_vit"), "-k", "2", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Call batch_call(std::vector<std::string> more) {
  Call call;
  call.arguments = batch_arguments(std::move(more));
  return call;
}

Finished batch(std::vector<std::string> more) {
  return run(batch_arguments(std::move(more)));
}

Finished run_into(const Folder& folder, const std::string& name, std::vector<std::string> more) {
  more.insert(more.end(), {folder.path("in"), "-o", folder.path(name)});
  if (!name.ends_with(".npy")) return batch(more);
  more.insert(more.begin(), {"embed", "-m", golden("hf_vit"), "--quiet"});
  return run(more);
}

std::string image_bytes() {
  return bitmap(200, 100, 50);
}

std::string photograph(std::size_t width, std::size_t height, unsigned seed) {
  std::string rows;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    for (std::size_t x = 0; x < width; ++x)
      for (const std::size_t value : {x * seed, y * seed + x / 3, (x ^ y) + seed})
        rows += static_cast<char>(value);
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(rows.data()), rows.size(), 1) != Z_OK)
    throw std::runtime_error("cannot pack an image");
  packed.resize(size);
  const std::string header =
      big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5);  // 8 bits, RGB
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR" + header) + png_chunk("IDAT" + packed) +
         png_chunk("IEND");
}

void write_images(const Folder& folder, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "in/%03zu.bmp", i);
    const auto shade = static_cast<unsigned char>(i);
    const auto image = bitmap(shade, static_cast<unsigned char>(7 * i), 99);
    folder.write(name, i % 7 == 6 ? image.substr(0, i) : image);
  }
}

std::vector<nlohmann::json> rows_of(const std::string& jsonl) {
  std::vector<nlohmann::json> rows;
  std::istringstream stream(jsonl);
  for (std::string line; std::getline(stream, line);) {
    auto row = nlohmann::json::parse(line);
    if (row["status"] != "header") rows.push_back(std::move(row));
  }
  return rows;
}

std::string content_of(const std::string& path) {
  return path.ends_with(".db") ? rows_of_database(path) : read_file(path);
}

}  // namespace vit::tools
