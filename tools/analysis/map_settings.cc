#include "tools/analysis/map_settings.h"

#include "vit/base/text.h"

namespace vit::tools {
namespace {

using interpret::Query;
using interpret::QueryKind;

/// Whether there is one query of this kind, which its name says.
bool is_its_name(QueryKind kind) {
  return kind == QueryKind::kClass || kind == QueryKind::kDistillation ||
         kind == QueryKind::kMean || kind == QueryKind::kPool;
}

/// "register:2"
std::optional<Query> register_query(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || text.substr(0, colon) != to_string(QueryKind::kRegister))
    return std::nullopt;
  const auto index = to_number<size_t>(text.substr(colon + 1));
  if (!index) return std::nullopt;
  return Query{.kind = QueryKind::kRegister, .index = *index};
}

/// "x:12,y:34"
std::optional<Query> pixel_query(std::string_view text) {
  const size_t comma = text.find(',');
  if (!text.starts_with("x:") || comma == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(comma + 1);
  if (!rest.starts_with("y:")) return std::nullopt;
  const auto x = to_number<double>(text.substr(2, comma - 2));
  const auto y = to_number<double>(rest.substr(2));
  if (!x || !y || *x < 0.0 || *y < 0.0) return std::nullopt;
  return Query{.kind = QueryKind::kPixel, .x = *x, .y = *y};
}

/// "3,4"
std::optional<Query> patch_query(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const auto row = to_number<size_t>(text.substr(0, comma));
  const auto col = to_number<size_t>(text.substr(comma + 1));
  if (!row || !col) return std::nullopt;
  return Query{.kind = QueryKind::kPatch, .row = *row, .col = *col};
}

}  // namespace

std::optional<Query> to_query(std::string_view text) {
  const auto kind = enum_named<QueryKind>(text);
  if (kind && is_its_name(*kind)) return Query{.kind = *kind};
  if (const auto query = register_query(text)) return query;
  if (const auto query = pixel_query(text)) return query;
  return patch_query(text);
}

}  // namespace vit::tools
