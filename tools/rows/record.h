/// Rows as lines of text: CSV (RFC 4180) and JSONL.
///
/// CSV begins with a line of the names of its columns. A record ends with a line break that is not
/// within quotes; anything after the last one is an incomplete record. Files of earlier versions
/// have a first record with the number 0 and the status "header", which describes the run in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/rows/row.h"

namespace vit::tools {

enum class TextFormat { kCsv, kJsonl };

/// The names of the columns, which are the first line of CSV; empty for JSONL.
std::string opening(TextFormat format, const RowShape& shape);
/// The beginning of every such line.
constexpr std::string_view kFirstColumns = "number,path,status,reason,";
/// What a line of column names says about the rows, in JSON as in a header.
std::string header_of_columns(std::string_view line);

/// `numbers_sum` is the checksum of numbers that are stored elsewhere.
std::string to_record(TextFormat format, const RowShape& shape, const Row& row,
                      std::optional<std::uint32_t> numbers_sum = {});

/// The record of a row with another number.
std::string renumbered(TextFormat format, std::string_view record, std::uint64_t number);

/// The JSON object of the header record of an earlier version, none if it is not one.
std::optional<std::string> header_of(TextFormat format, std::string_view record);

/// None if the record is damaged.
std::optional<StoredRow> stored_row(TextFormat format, const RowShape& shape,
                                    std::string_view record);

/// The end of the first record in `text`, with its line break; npos: it is incomplete.
std::size_t record_end(TextFormat format, std::string_view text);

}  // namespace vit::tools
