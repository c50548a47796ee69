/// Unicode for tokenizers: code points, their categories, case and normal forms.
#pragma once

#include <string>
#include <string_view>

namespace vit::text {

/// Throws an Error naming the first byte that is not valid UTF-8. `what` opens the message.
std::u32string decode_utf8(std::string_view bytes, std::string_view what);
std::string encode_utf8(std::u32string_view text);

bool is_letter(char32_t c);        ///< \p{L}
bool is_number(char32_t c);        ///< \p{N}
bool is_space(char32_t c);         ///< \s: the White_Space property, 25 characters
bool is_python_space(char32_t c);  ///< the same and U+001C to U+001F: str.isspace()
bool is_punctuation(char32_t c);   ///< \p{P}
bool is_ascii_punctuation(char32_t c);
bool is_nonspacing_mark(char32_t c);  ///< \p{Mn}
bool is_control(char32_t c);          ///< \p{C}

/// Lower case of each character by itself.
std::u32string lowercase(std::u32string_view text);
/// The same, and a capital sigma that ends a word becomes the final sigma, as in Python.
std::u32string lowercase_in_context(std::u32string_view text);

enum class NormalForm { kC, kD, kKC, kKD };
std::u32string normalized(std::u32string_view text, NormalForm form);

/// Characters of the grapheme cluster that a text begins with: what is seen as one character. 0 of
/// an empty text.
size_t cluster_length(std::u32string_view text);

/// Runs of whitespace become one space.
std::u32string collapse_spaces(std::u32string_view text, bool (*space)(char32_t) = is_space);
/// Without the whitespace at both ends.
std::u32string strip_spaces(std::u32string_view text, bool (*space)(char32_t) = is_space);

}  // namespace vit::text
