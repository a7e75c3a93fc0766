// No single flipped bit of a checkpoint loads, anywhere in it.
#include <algorithm>

#include "handles.hpp"
#include "support/sanitized.hpp"

namespace {

std::string saved(const bdl_posterior* q, const bdl_optimizer* o) {
  int64_t size = 0;
  OK(bdl_save_bytes(nullptr, q, o, nullptr, 0, &size));
  std::string bytes(static_cast<size_t>(size), '\0');
  OK(bdl_save_bytes(nullptr, q, o, bytes.data(), size, &size));
  return bytes;
}

/// Loads the bytes and returns what they save to again; empty if they are refused.
std::string reloaded(const std::string& bytes, bool has_optimizer) {
  bdl_posterior* q = nullptr;
  bdl_optimizer* o = nullptr;
  const bdl_status status = bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), nullptr, nullptr,
                                           &q, has_optimizer ? &o : nullptr);
  if (status != BDL_OK && status != BDL_ERROR_FORMAT)
    fail_msg("loading gave %s: %s", bdl_status_name(status), bdl_last_error());
  const Posterior posterior(q);
  const Optimizer optimizer(o);
  return status == BDL_OK ? saved(has_optimizer ? nullptr : q, o) : std::string();
}

size_t header_size(const std::string& bytes) {
  uint64_t length = 0;
  memcpy(&length, bytes.data(), sizeof length);
  return sizeof length + length;
}

/// How often the header has a letter that JSON reads in either case: the last of "\u000a", a line's end in
/// the network's description. A flipped bit makes it "\u000A", which is the same text.
size_t letters_of_either_case(const std::string& bytes) {
  size_t count = 0;
  for (size_t at = 0; (at = bytes.find("\\u000a", at)) != bytes.npos; ++at) ++count;
  return count;
}

void check_flips(const std::string& bytes, size_t end, bool has_optimizer) {
  constexpr size_t stride = bdl::testing::sanitized_stride;
  std::string changed = bytes;
  size_t harmless = 0;
  for (size_t at = 0; at < end; ++at)
    for (size_t bit = at % stride; bit < 8; bit += stride) {
      changed[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const std::string again = reloaded(changed, has_optimizer);
      if (!again.empty() && again != bytes)
        fail_msg("byte %zu, bit %zu: the file loads as another one, at '%s'", at, bit,
                 changed.substr(at > 20 ? at - 20 : 0, 40).c_str());
      harmless += again.empty() ? 0 : 1;
      changed[at] = bytes[at];
    }
  if (stride == 1) assert_int_equal(harmless, letters_of_either_case(bytes));
}

Learner trained(bdl_dtype dtype) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner l(make_mlp(dtype, {INPUTS, 2, outputs_for(BDL_GAUSSIAN)}, BDL_GAUSSIAN), dtype, 1, ROWS);
  l.set("minibatch", 8);
  l.fit(x_of(&data), y_of(&data), 2);
  return l;
}

/// The header is most of such a file; the rest is below.
void headers_of_everything(void**) {
  const std::string bytes = saved(nullptr, trained(BDL_F64).optimizer.get());
  check_flips(bytes, header_size(bytes), true);
}

void every_byte_of_a_posterior(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    const std::string bytes = saved(trained(dtype).posterior.get(), nullptr);
    check_flips(bytes, bytes.size(), false);
  }
}

}  // namespace

int test_flipped_bits() {
  const CMUnitTest tests[] = {cmocka_unit_test(headers_of_everything),
                              cmocka_unit_test(every_byte_of_a_posterior)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
