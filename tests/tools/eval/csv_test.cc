#include "tools/output/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

using Records = std::vector<std::vector<std::string>>;

class Csv : public testing::Test {
 protected:
  const std::string path_ = testing::TempDir() + "csv_test_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
  ~Csv() override { std::filesystem::remove(path_); }

  Records read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    CsvReader reader(path_);
    Records records;
    while (auto record = reader.next()) records.push_back(std::move(*record));
    return records;
  }
};

TEST_F(Csv, ReadsQuotesLineBreaksAndBothLineEnds) {
  EXPECT_EQ(read("a.jpg,cat\nb.jpg,dog\n"), (Records{{"a.jpg", "cat"}, {"b.jpg", "dog"}}));
  EXPECT_EQ(read("a.jpg,cat\r\n\r\n\nb.jpg,dog"), (Records{{"a.jpg", "cat"}, {"b.jpg", "dog"}}));
  EXPECT_EQ(read("\"a,1.jpg\",\"the \"\"big\"\" cat\"\n"),
            (Records{{"a,1.jpg", "the \"big\" cat"}}));
  EXPECT_EQ(read("\"two\nlines.jpg\",cat\n"), (Records{{"two\nlines.jpg", "cat"}}));
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "file,label\n"),
            (Records{{"file", "label"}}));
  EXPECT_EQ(read("a,,\n"), (Records{{"a", "", ""}}));
  EXPECT_EQ(read("5\" disk,x\n"), (Records{{"5\" disk", "x"}})) << "a quote within a plain field";
  EXPECT_EQ(read(""), Records{});
}

TEST_F(Csv, CountsLinesAndFindsAnOpenQuote) {
  std::ofstream(path_, std::ios::binary) << "\"a\nb\",x\n\nc,y\n\"d,z\n";
  CsvReader reader(path_);
  reader.next();
  EXPECT_EQ(reader.line(), 1u);
  reader.next();
  EXPECT_EQ(reader.line(), 4u);
  try {
    reader.next();
    FAIL() << "accepted a quote without an end";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path_ + ": line 5: a quote is opened and never closed");
  }
}

TEST_F(Csv, ReadsRecordsOfUpToAMegabyteAndNoLongerOnes) {
  for (const size_t length : {4094u, 4095u, 4096u, 4097u, 8190u, 8191u, 1u << 20}) {
    const std::string name(length - 2, 'x');
    EXPECT_EQ(read(name + ",y\nb,z\n"), (Records{{name, "y"}, {"b", "z"}})) << length;
    EXPECT_EQ(read(name + ",y"), (Records{{name, "y"}})) << length;
  }
  for (const std::string& text :
       {"a,b\n" + std::string((1 << 20) + 1, 'x'),
        "a,b\n\"" + std::string(600'000, 'x') + '\n' + std::string(600'000, 'x') + '"'}) {
    try {
      read(text);
      FAIL() << "accepted a record of " << text.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  testing::EndsWith(": a record of more than 1048576 bytes; is this a table?"));
    }
  }
}

TEST_F(Csv, WritesWhatItReads) {
  const std::vector<std::string> fields{"plain", "a,b", "say \"hi\"", "two\nlines", "", " blank "};
  std::string line;
  for (const auto& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(read(line + "\n"), Records{fields});
}

}  // namespace
}  // namespace vit::tools
