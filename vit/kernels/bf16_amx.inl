// Blocks of bf16.inl on AMX tiles: 16 x 16 sums of 32 products of pairs in one instruction.

/// The shape of the tiles, which a thread keeps until it releases them.
class Bf16Session {
 public:
  Bf16Session() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } shape;
    // GCC 12 takes the instruction for one that reads 8 bytes, and leaves out other stores.
    asm volatile("" : : "r"(&shape) : "memory");
    _tile_loadconfig(&shape);
  }
  ~Bf16Session() { _tile_release(); }
  Bf16Session(const Bf16Session&) = delete;
  Bf16Session& operator=(const Bf16Session&) = delete;
};

template <size_t kRowTiles, size_t kColumnTiles>
inline void start_bf16_tiles(const Bf16Block& t) {
  if (t.start == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    return;
  }
  const size_t bytes = t.start_stride * sizeof(float);
  const float* second = t.start + 16 * t.start_stride;
  _tile_loadd(0, t.start, bytes);
  if constexpr (kColumnTiles == 2) _tile_loadd(1, t.start + 16, bytes);
  if constexpr (kRowTiles == 2) _tile_loadd(2, second, bytes);
  if constexpr (kRowTiles == 2 && kColumnTiles == 2) _tile_loadd(3, second + 16, bytes);
}

template <size_t kRowTiles, size_t kColumnTiles>
inline void bf16_block(const Bf16Block& t) {
  constexpr size_t kRowBytes = 64, kTileNumbers = 512;
  start_bf16_tiles<kRowTiles, kColumnTiles>(t);
  const Bf16 *a = t.a, *b = t.b;
  for (size_t step = 0; step < t.steps; ++step, a += kTileNumbers, b += kTileNumbers) {
    _tile_loadd(6, b, kRowBytes);
    if constexpr (kColumnTiles == 2) _tile_loadd(7, b + t.next, kRowBytes);
    _tile_loadd(4, a, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumnTiles == 2) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kRowTiles == 2) {
      _tile_loadd(5, a + t.next, kRowBytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kColumnTiles == 2) _tile_dpbf16ps(3, 5, 7);
    }
  }
  const size_t bytes = t.out_stride * sizeof(float);
  float* second = t.out + 16 * t.out_stride;
  _tile_stored(0, t.out, bytes);
  if constexpr (kColumnTiles == 2) _tile_stored(1, t.out + 16, bytes);
  if constexpr (kRowTiles == 2) _tile_stored(2, second, bytes);
  if constexpr (kRowTiles == 2 && kColumnTiles == 2) _tile_stored(3, second + 16, bytes);
}
