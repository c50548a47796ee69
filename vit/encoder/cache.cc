#include "vit/encoder/cache.h"

#include <algorithm>
#include <cassert>

#include "vit/base/error.h"

namespace vit {

void KeyValueCache::append(ConstMatrixView keys, ConstMatrixView values) {
  assert(keys.rows == values.rows && keys.cols == keys_.cols() && values.cols == values_.cols());
  if (keys.rows > capacity() - length_)
    fail("key/value cache: ", length_, " of ", capacity(), " tokens are used, ", keys.rows,
         " more do not fit; make it with room for the longest sequence");
  for (size_t r = 0; r < keys.rows; ++r) {
    std::copy_n(keys.row(r), keys.cols, keys_.view().row(length_ + r));
    std::copy_n(values.row(r), values.cols, values_.view().row(length_ + r));
  }
  length_ += keys.rows;
}

}  // namespace vit
