#include "tools/rows/exports/parquet_rows.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/output/parquet.h"
#include "tools/output/path_text.h"
#include "vit/base/atomic_file.h"

namespace vit::tools {
namespace {

std::vector<ParquetColumn> columns_of(const RowShape& shape) {
  using enum ParquetType;
  std::vector<ParquetColumn> columns{{"number", kInteger, false},
                                     {"path", kText, false},
                                     {"status", kText, false},
                                     {"reason", kText}};
  for (size_t i = 1; i <= shape.top; ++i) {
    const std::string rank = std::to_string(i);
    columns.push_back({"class_" + rank, kInteger});
    columns.push_back({"label_" + rank, kText});
    columns.push_back({"probability_" + rank, kFloat});
  }
  if (shape.stamps) columns.insert(columns.end(), {{"bytes", kInteger}, {"modified", kTime}});
  if (shape.facts)
    columns.insert(
        columns.end(),
        {{"taken", kText}, {"camera", kText}, {"latitude", kDouble}, {"longitude", kDouble}});
  columns.push_back({"path_hex", kText});
  return columns;
}

ParquetValue text_or_nothing(const std::string& text) {
  if (text.empty()) return {};
  return as_utf8(text);
}

ParquetValue number_or_nothing(const std::optional<double>& number) {
  if (!number) return {};
  return *number;
}

void add_facts(const RowShape& shape, const StoredRow& row, std::vector<ParquetValue>& values) {
  constexpr std::int64_t kPerMicrosecond = 1000;
  if (shape.stamps && row.stamp.time != 0) {
    values.emplace_back(static_cast<std::int64_t>(row.stamp.bytes));
    values.emplace_back(row.stamp.time / kPerMicrosecond);
  } else if (shape.stamps) {
    values.resize(values.size() + 2);
  }
  if (!shape.facts) return;
  values.push_back(text_or_nothing(row.facts.taken));
  values.push_back(text_or_nothing(row.facts.camera));
  values.push_back(number_or_nothing(row.facts.latitude));
  values.push_back(number_or_nothing(row.facts.longitude));
}

void set_values(const RowShape& shape, const StoredRow& row, std::vector<ParquetValue>& values) {
  constexpr size_t kFixed = 4, kPerClass = 3;
  values.clear();
  values.emplace_back(static_cast<std::int64_t>(row.number));
  values.emplace_back(as_utf8(row.path));
  values.emplace_back(std::string(row.failed ? "failed" : "ok"));
  values.push_back(text_or_nothing(row.remark));
  for (size_t i = 0; i < std::min(shape.top, row.predictions.size()); ++i) {
    const Prediction& p = row.predictions[i];
    values.emplace_back(static_cast<std::int64_t>(p.index));
    values.emplace_back(as_utf8(p.label));
    values.emplace_back(p.probability);
  }
  values.resize(kFixed + kPerClass * shape.top);
  add_facts(shape, row, values);
  values.push_back(is_utf8(row.path) ? ParquetValue() : ParquetValue(to_hex(row.path)));
}

}  // namespace

std::uint64_t write_parquet(const ClassRows& source, const std::filesystem::path& output) {
  AtomicFile file(output);
  ParquetWriter writer(columns_of(source.shape), [&](std::string_view bytes) {
    file.write(std::as_bytes(std::span(bytes)));
  });
  Results results = source.open();
  std::uint64_t rows = 0;
  std::vector<ParquetValue> values;
  for (auto row = results.next(); row; row = results.next(), ++rows) {
    set_values(source.shape, *row, values);
    writer.add(values);
  }
  const std::array facts{std::pair<std::string, std::string>("vit.run", dump(source.header))};
  writer.finish(facts);
  file.commit();
  return rows;
}

}  // namespace vit::tools
