// Sanitizers make tests ten to thirty times slower: loops over all bytes or all allocations take larger
// strides there. The release build runs them whole, and the fuzz targets go on under sanitizers.
#pragma once

namespace bdl::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int sanitized_stride = 11;
#elif defined(__has_feature)
constexpr int sanitized_stride = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 11 : 1;
#else
constexpr int sanitized_stride = 1;
#endif

}  // namespace bdl::testing
