/// Whether AddressSanitizer is compiled in: it has an allocator of its own and keeps freed memory.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define VIT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VIT_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef VIT_ADDRESS_SANITIZER
#define VIT_ADDRESS_SANITIZER 0
#endif

namespace vit::test {

inline constexpr bool kAddressSanitizer = VIT_ADDRESS_SANITIZER;

}  // namespace vit::test
