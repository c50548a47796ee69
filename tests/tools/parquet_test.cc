#include "tools/output/parquet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/parquet_reader.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;

std::string written(const std::vector<ParquetColumn>& columns,
                    const std::vector<std::vector<ParquetValue>>& rows) {
  std::string file;
  ParquetWriter writer(columns, [&](std::string_view bytes) { file += bytes; });
  for (const auto& row : rows) writer.add(row);
  const std::vector<std::pair<std::string, std::string>> facts{{"made by", "a test"}};
  writer.finish(facts);
  return file;
}

TEST(Parquet, HoldsEveryTypeAndWhatIsNotThere) {
  using enum ParquetType;
  const auto table = test::read_parquet(
      written({{"n", kInteger, false}, {"t", kText}, {"f", kFloat}, {"d", kDouble}, {"w", kTime}},
              {{std::int64_t{-5}, std::string("a,\"b\"\n"), 0.5f, -2.25, std::int64_t{7}},
               {std::int64_t{1} << 40, {}, {}, {}, {}},
               {std::int64_t{0}, std::string(), 1.0f, {}, std::int64_t{-1}}}));
  EXPECT_EQ(table.rows, 3);
  EXPECT_THAT(table["n"], ElementsAre("-5", "1099511627776", "0"));
  EXPECT_THAT(table["t"], ElementsAre("a,\"b\"\n", "-", ""));
  EXPECT_THAT(table["f"], ElementsAre("0.500000", "-", "1.000000"));
  EXPECT_THAT(table["d"], ElementsAre("-2.250000", "-", "-"));
  EXPECT_THAT(table["w"], ElementsAre("7", "-", "-1"));
  EXPECT_EQ(table.facts.at("made by"), "a test");
}

TEST(Parquet, HoldsManyRowsInGroups) {
  std::string file;
  ParquetWriter writer({{"n", ParquetType::kInteger, false}, {"odd", ParquetType::kText}},
                       [&](std::string_view bytes) { file += bytes; });
  constexpr std::int64_t kRows = 150'000;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::vector<ParquetValue> row{
        i, i % 2 == 0 ? ParquetValue() : ParquetValue("x" + std::to_string(i))};
    writer.add(row);
  }
  writer.finish({});
  const auto table = test::read_parquet(file);
  EXPECT_EQ(table.rows, kRows);
  EXPECT_EQ(table.groups, 3u);
  ASSERT_EQ(table["n"].size(), static_cast<size_t>(kRows));
  EXPECT_EQ(table["n"].back(), "149999");
  EXPECT_EQ(table["odd"][65'537], "x65537");
  EXPECT_EQ(table["odd"][65'538], "-");
}

TEST(Parquet, OfManyColumnsAndNoRowsIsATable) {
  std::vector<ParquetColumn> columns;
  for (int i = 0; i < 40; ++i) columns.push_back({"c" + std::to_string(i), ParquetType::kText});
  const auto table = test::read_parquet(written(columns, {}));
  EXPECT_EQ(table.rows, 0);
  EXPECT_EQ(table.columns.size(), 40u);
  EXPECT_TRUE(table["c39"].empty());
}

}  // namespace
}  // namespace vit::tools
