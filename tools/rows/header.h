/// The header of a file of results: model, recipe and options. Only a run with the same ones may
/// add rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/output/json.h"
#include "tools/rows/results.h"
#include "tools/rows/row.h"
#include "tools/rows/shard.h"

namespace vit::tools {

/// The sha256 of the weight file, or of all files of a sharded model, concatenated.
std::string model_digest(const std::filesystem::path& model);

/// Version, model with its hash, recipe, and the options that affect a row: those of the
/// model, and `options` of the command itself.
Json make_header(std::string_view command, const ModelSettings& settings,
                 const Classifier& classifier, const Json& options);

/// Adds the format of the rows to a new header, or gives the header and the shape those of the
/// existing file, so that it can be resumed.
void match_format(const std::filesystem::path& path, ResultKind kind, RowShape& shape,
                  Json& header);

Json with_shard(Json header, const std::optional<Shard>& shard);
/// Removes the shard from a header and returns it; none if there is no valid one.
std::optional<Shard> take_shard(Json& header);

/// The header in a file's JSON. Throws an Error if it is not one. `path` is the file.
Json parse_header(const std::filesystem::path& path, Results& results, const std::string& stored);

/// The non-negative integer at `key` of a JSON object; none if there is none.
std::optional<std::uint64_t> count_in(const Json& object, const char* key);

/// A line for each field that differs: "options.top is 5 in the file, 3 now".
std::vector<std::string> differences(const Json& stored, const Json& wanted);

/// Throws an Error that lists the differences between `stored`, the header of `results`, and what
/// is wanted, if there are any; DamagedRows if they come from damage. `path` is the file.
void check_header(const std::filesystem::path& path, Results& results, const std::string& stored,
                  const Json& wanted);

/// What rows of a file with this header hold. Throws an Error if no run of vit has such rows.
RowShape shape_of(const std::filesystem::path& path, const Json& header);

}  // namespace vit::tools
