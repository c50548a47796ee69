/// Writing of results and messages, and properties of the terminal.
#pragma once

#include <cstddef>
#include <string_view>

#include "vit/base/error.h"

namespace vit::tools {

using std::size_t;

/// The reader of the results has closed the pipe (`vit … | head -1`): not an error to report.
class OutputClosed : public Error {
 public:
  OutputClosed() : Error("output closed") {}
};

/// Columns of the terminal on standard output, or 80.
size_t terminal_columns();
bool output_is_terminal();
/// Only on a terminal with colours, and never with NO_COLOR (no-color.org).
bool output_has_colour();

/// Writes to standard output without buffering. Throws OutputClosed, or an Error with the reason.
void write_output(std::string_view text);

/// One message to standard error, after all output so far, with the program's name before it.
/// Control characters are escaped: a file name must not control the terminal.
void write_message(std::string_view message);

}  // namespace vit::tools
