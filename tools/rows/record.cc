#include "tools/rows/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "tools/output/csv.h"
#include "tools/output/json.h"
#include "tools/output/json_depth.h"
#include "tools/output/path_text.h"
#include "tools/rows/sums.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

constexpr std::string_view kHeader = "header", kOk = "ok", kFailed = "failed";
constexpr size_t kNumber = 0, kPath = 1, kStatus = 2, kReason = 3;  // columns of CSV
constexpr size_t kBestClass = 4;                                    // where there are classes
constexpr size_t kFixedColumns = 4;
constexpr size_t kClassColumns = 3;  // number, label and probability
constexpr size_t kStampColumns = 2, kFactColumns = 4;
constexpr std::string_view kJsonNumber = R"({"number":)";

std::string digits_of(float number) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

std::string csv_columns(const RowShape& shape) {
  std::string line = "number,path,status,reason";
  for (size_t i = 1; i <= shape.top; ++i) {
    const std::string rank = std::to_string(i);
    line += ",class_" + rank + ",label_" + rank + ",probability_" + rank;
  }
  if (shape.stamps) line += ",bytes,modified";
  if (shape.facts) line += ",taken,camera,latitude,longitude";
  return line + ",path_hex\n";
}

std::string degrees(std::optional<double> angle) {
  std::array<char, 32> text;
  return angle ? std::string(text.data(), static_cast<size_t>(std::snprintf(
                                              text.data(), text.size(), "%.6f", *angle)))
               : "";
}

std::string csv_record(const RowShape& shape, const Row& row) {
  const auto field = [&](std::string_view text) {
    return shape.csv_safe ? csv_field(csv_harmless(as_utf8(text))) : csv_field(as_utf8(text));
  };
  const std::string& path = row.input.path;
  std::string line = std::to_string(row.input.number) + ',' + field(path) + ',';
  line += row.failed() ? kFailed : kOk;
  line += ',' + field(row.remark());
  for (const auto& p : row.predictions)
    line += ',' + std::to_string(p.index) + ',' + field(p.label) + ',' + digits_of(p.probability);
  line += std::string(3 * (shape.top - row.predictions.size()), ',');
  if (shape.stamps)
    line += row.stamp.time == 0
                ? ",,"
                : ',' + std::to_string(row.stamp.bytes) + ',' + time_text(row.stamp.time);
  if (shape.facts)
    line += ',' + field(row.facts.taken) + ',' + field(row.facts.camera) + ',' +
            degrees(row.facts.latitude) + ',' + degrees(row.facts.longitude);
  return line + ',' + (is_utf8(path) ? "" : to_hex(path)) + '\n';
}

Json nested(std::span<const float> numbers, std::span<const size_t> extents) {
  if (extents.size() == 1) return std::vector<float>(numbers.begin(), numbers.end());
  Json rows = Json::array();
  const size_t length = numbers.size() / extents.front();
  for (size_t i = 0; i < extents.front(); ++i)
    rows.push_back(nested(numbers.subspan(i * length, length), extents.subspan(1)));
  return rows;
}

void add_stamp(const RowShape& shape, const Row& row, Json& json) {
  if (shape.stamps && row.stamp.time != 0) {
    json["bytes"] = row.stamp.bytes;
    json["modified"] = time_text(row.stamp.time);
  }
  if (!shape.facts) return;
  const patch::PhotoFacts& facts = row.facts;
  if (!facts.taken.empty()) json["taken"] = facts.taken;
  if (!facts.camera.empty()) json["camera"] = facts.camera;
  if (facts.latitude) json["latitude"] = *facts.latitude;
  if (facts.longitude) json["longitude"] = *facts.longitude;
}

std::string json_record(const RowShape& shape, const Row& row,
                        std::optional<std::uint32_t> numbers_sum) {
  const std::string& path = row.input.path;
  Json json;
  json["number"] = row.input.number;
  put_path(json, "path", path);
  json["status"] = row.failed() ? kFailed : kOk;
  if (const std::string remark = row.remark(); !remark.empty()) json["reason"] = remark;
  add_stamp(shape, row, json);
  if (!row.failed() && !shape.features.empty())
    json["features"] = nested(row.features, shape.features);
  else if (!row.failed() && shape.top != 0)
    json["predictions"] = to_json(row.predictions);
  if (numbers_sum) json["crc32"] = checksum_text(*numbers_sum);
  return dump(json) + '\n';
}

std::vector<Prediction> csv_predictions(const RowShape& shape,
                                        const std::vector<std::string>& fields) {
  std::vector<Prediction> predictions;
  const size_t end = std::min(kBestClass + kClassColumns * shape.top, fields.size());
  for (size_t at = kBestClass; at + kClassColumns <= end; at += kClassColumns) {
    const auto index = to_number<std::uint64_t>(fields[at]);
    if (!index) break;
    const std::string& label = fields[at + 1];
    Prediction prediction{*index, shape.csv_safe ? csv_original(label) : label};
    const std::string& digits = fields[at + 2];
    std::from_chars(digits.data(), digits.data() + digits.size(), prediction.probability);
    predictions.push_back(std::move(prediction));
  }
  return predictions;
}

/// Of the columns after the classes.
void read_stamp(const RowShape& shape, const std::vector<std::string>& fields, StoredRow& row) {
  size_t at = kBestClass + kClassColumns * shape.top;
  if (shape.stamps && at + kStampColumns < fields.size()) {
    const auto bytes = to_number<std::uint64_t>(fields[at]);
    const auto time = parse_time(fields[at + 1]);
    if (bytes && time) row.stamp = {*bytes, *time};
    at += kStampColumns;
  }
  if (!shape.facts || at + kFactColumns >= fields.size()) return;
  const auto angle = [](const std::string& text) -> std::optional<double> {
    double value = 0.0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() ? std::optional(value) : std::nullopt;
  };
  const auto text = [&](size_t column) {
    return shape.csv_safe ? csv_original(fields[column]) : fields[column];
  };
  row.facts = {text(at), text(at + 1), angle(fields[at + 2]), angle(fields[at + 3])};
}

std::optional<StoredRow> csv_row(const RowShape& shape, std::string_view record) {
  const auto fields = csv_fields(record);
  if (!fields || fields->size() <= kFixedColumns) return std::nullopt;
  const auto number = to_number<std::uint64_t>((*fields)[kNumber]);
  const auto& status = (*fields)[kStatus];
  if (!number || (status != kOk && status != kFailed)) return std::nullopt;
  StoredRow row{*number, (*fields)[kPath], status == kFailed};
  if (shape.csv_safe) row.path = csv_original(row.path);
  row.remark = shape.csv_safe ? csv_original((*fields)[kReason]) : (*fields)[kReason];
  row.predictions = csv_predictions(shape, *fields);
  read_stamp(shape, *fields, row);
  if (fields->back().empty()) return row;
  const auto bytes = from_hex(fields->back());
  if (!bytes) return std::nullopt;
  row.path = *bytes;
  return row;
}

void read_stamp(const Json& json, StoredRow& row) {
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto angle = [&](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  const auto bytes = json.find("bytes");
  const auto time = parse_time(text("modified"));
  if (time && bytes != json.end() && bytes->is_number_unsigned())
    row.stamp = {bytes->get<std::uint64_t>(), *time};
  row.facts = {text("taken"), text("camera"), angle("latitude"), angle("longitude")};
  row.remark = text("reason");
}

std::optional<StoredRow> json_row(std::string_view record) {
  if (nests_deep(record)) return std::nullopt;
  const auto json = Json::parse(record, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto number = json.find("number"), path = json.find("path"), status = json.find("status");
  if (number == json.end() || !number->is_number_unsigned() || path == json.end() ||
      !path->is_string() || status == json.end() || (*status != kOk && *status != kFailed))
    return std::nullopt;
  StoredRow row{number->get<std::uint64_t>(), path->get<std::string>(), *status == kFailed};
  if (const auto sum = json.find("crc32"); sum != json.end() && sum->is_string())
    row.numbers_sum = parse_checksum(sum->get<std::string>());
  if (const auto found = json.find("predictions"); found != json.end())
    row.predictions = predictions_in(*found);
  read_stamp(json, row);
  const auto hex = json.find("path_hex");
  if (hex == json.end()) return row;
  const auto bytes = hex->is_string() ? from_hex(hex->get<std::string>()) : std::nullopt;
  if (!bytes) return std::nullopt;
  row.path = *bytes;
  return row;
}

}  // namespace

std::string opening(TextFormat format, const RowShape& shape) {
  return format == TextFormat::kCsv ? csv_columns(shape) : "";
}

std::string header_of_columns(std::string_view line) {
  size_t classes = 0;
  for (size_t at = line.find(",class_"); at != line.npos; at = line.find(",class_", at + 1))
    ++classes;
  Json header;
  if (line.find(",bytes,modified,") != line.npos) header["format"] = kRowFormat;
  header["options"]["top"] = classes;
  if (line.find(",taken,camera,") != line.npos) header["options"]["exif_columns"] = true;
  return dump(header);
}

std::string to_record(TextFormat format, const RowShape& shape, const Row& row,
                      std::optional<std::uint32_t> numbers_sum) {
  return format == TextFormat::kCsv ? csv_record(shape, row) : json_record(shape, row, numbers_sum);
}

std::string renumbered(TextFormat format, std::string_view record, std::uint64_t number) {
  const std::string digits = std::to_string(number);
  if (format == TextFormat::kCsv)  // a number has no comma, within quotes or not
    return digits + std::string(record.substr(record.find(',')));
  const size_t end = record.find_first_not_of("0123456789", kJsonNumber.size());
  if (record.starts_with(kJsonNumber) && record.substr(end).starts_with(','))
    return std::string(kJsonNumber) + digits + std::string(record.substr(end));
  Json json = Json::parse(record, nullptr, false);  // written by another program, in another order
  json["number"] = number;
  return dump(json) + '\n';
}

std::optional<std::string> header_of(TextFormat format, std::string_view record) {
  if (format == TextFormat::kCsv) {
    const auto fields = csv_fields(record);
    if (!fields || fields->size() <= kFixedColumns || (*fields)[kStatus] != kHeader)
      return std::nullopt;
    return (*fields)[kReason];
  }
  if (nests_deep(record)) return std::nullopt;
  const auto json = Json::parse(record, nullptr, false);
  if (!json.is_object() || !json.contains("header")) return std::nullopt;
  return dump(json["header"]);
}

std::optional<StoredRow> stored_row(TextFormat format, const RowShape& shape,
                                    std::string_view record) {
  return format == TextFormat::kCsv ? csv_row(shape, record) : json_row(record);
}

std::size_t record_end(TextFormat format, std::string_view text) {
  bool within = false;
  for (std::size_t at = text.find_first_of("\"\n"); at != text.npos;
       at = text.find_first_of("\"\n", at + 1)) {
    if (text[at] == '"' && format == TextFormat::kCsv)
      within = !within;
    else if (text[at] == '\n' && !within)
      return at + 1;
  }
  return text.npos;
}

}  // namespace vit::tools
