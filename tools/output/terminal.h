/// Where results and messages go, and what the place they go to can show.
#pragma once

#include <cstddef>
#include <string_view>

#include "vit/base/error.h"

namespace vit::tools {

using std::size_t;

/// The reader of our results has gone away (`vit … | head -1`): nothing is left to say.
class OutputClosed : public Error {
 public:
  OutputClosed() : Error("output closed") {}
};

/// Columns of the terminal on standard output, 80 where it is none.
size_t terminal_columns();
bool output_is_terminal();
/// Only on a terminal that knows colours, and never with NO_COLOR (no-color.org).
bool output_has_colour();

/// To standard output, at once. Throws OutputClosed, or an Error saying why it cannot be written.
void write_output(std::string_view text);

/// One message to standard error, after all output so far, with the program's name before it.
/// Control characters are shown, never sent: a file name must not drive the terminal.
void write_message(std::string_view message);

}  // namespace vit::tools
