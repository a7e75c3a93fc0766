// Checksums are CRC-32C, lie where the format says, and name what is damaged.
#include "base/simd.hpp"
#include "io/checksums.hpp"
#include "io_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Bit by bit, from the definition.
std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    remainder ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? 0x82F63B78U : 0);
  }
  return ~remainder;
}

class WithSimd {
 public:
  explicit WithSimd(Simd most) : previous_(most_simd.exchange(most)) {}
  ~WithSimd() { most_simd = previous_; }

 private:
  Simd previous_;
};

Bytes counting(int first, int step, int count) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(first + step * i));
  return bytes;
}

/// RFC 3720, appendix B.4, and the check value of the catalogue of parametrised CRCs.
void test_published_values(void**) {
  for (const Simd most : {Simd::baseline, Simd::avx512}) {
    const WithSimd limit(most);
    assert_int_equal(crc32c({}), 0);
    assert_int_equal(crc32c(bytes_of("123456789")), 0xE3069283);
    assert_int_equal(crc32c(Bytes(32, std::byte{0})), 0x8A9136AA);
    assert_int_equal(crc32c(Bytes(32, std::byte{0xFF})), 0x62A8AB43);
    assert_int_equal(crc32c(counting(0, 1, 32)), 0x46DD794E);
    assert_int_equal(crc32c(counting(31, -1, 32)), 0x113FDB5C);
  }
}

void test_every_length_and_start(void**) {
  const Bytes bytes = counting(3, 37, 64);
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(begin, size);
      const std::uint32_t expected = slow_crc32c(part);
      for (const Simd most : {Simd::baseline, Simd::avx512}) {
        const WithSimd limit(most);
        assert_int_equal(crc32c(part), expected);
        assert_int_equal(crc32c(part.subspan(size / 3), crc32c(part.first(size / 3))), expected);
      }
    }
}

/// Long enough to be summed in parts.
void test_long_texts(void**) {
  const Bytes bytes = counting(5, 91, 200'000);
  for (const std::size_t size : {65'535, 65'536, 65'537, 65'599, 131'071, 199'993}) {
    const auto part = std::span(bytes).subspan(1, size);
    const std::uint32_t expected = slow_crc32c(part);
    for (const Simd most : {Simd::baseline, Simd::avx512}) {
      const WithSimd limit(most);
      assert_int_equal(crc32c(part), expected);
      assert_int_equal(crc32c(part.subspan(7), crc32c(part.first(7))), expected);
    }
  }
}

std::string hexadecimal(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(checksum));
  return text;
}

/// The checksums of io/checksums.hpp, from its words.
void test_documented_checksums(void**) {
  const std::array<double, 1> mean{1.0};
  const std::array<float, 2> w{2.0F, 3.0F};
  const std::array tensors{make_tensor<float>("w", {1, 2}, w), make_tensor<double>("mean", {}, mean)};
  const Bytes archive = serialize_archive({{"a", "1"}, {"d", "2"}}, tensors);
  const std::string of_mean = hexadecimal(slow_crc32c(std::as_bytes(std::span(mean)))),
                    of_w = hexadecimal(slow_crc32c(std::as_bytes(std::span(w))));
  std::string said = "a|1|crc32c.mean|" + of_mean + "|crc32c.w|" + of_w + "|d|2|mean|F64||w|F32|1|2||";
  std::ranges::replace(said, '|', '\0');
  const std::string expected = R"({"__metadata__":{"a":"1","crc32c":")" +
                               hexadecimal(slow_crc32c(bytes_of(said))) + R"(","crc32c.mean":")" + of_mean +
                               R"(","crc32c.w":")" + of_w + R"(","d":"2"},"mean":)";
  const auto* const text = reinterpret_cast<const char*>(archive.data()) + 8;
  assert_int_equal(std::memcmp(text, expected.data(), expected.size()), 0);
}

const Tensor* tensor_at(const TensorArchive& archive, const std::byte* byte) {
  for (const auto& [name, tensor] : archive.tensors())
    if (!std::less<>()(byte, tensor.bytes.data()) && byte < tensor.bytes.data() + tensor.bytes.size())
      return &tensor;
  return nullptr;
}

/// Every bit of the tensors, which are named, and of the header.
void test_no_flipped_bit_is_read(void**) {
  const Bytes original = small_archive();
  const std::size_t data_start =
      original.size() - 55;  // small_archive() has 55 bytes of data, in the order of the file
  Bytes copy = original;
  const std::byte* const base = copy.data();
  const TensorArchive in_place = parse_archive(std::move(copy));
  for (std::size_t position = 0; position < original.size(); ++position)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = original;
      changed[position] ^= static_cast<std::byte>(1 << bit);
      const bool is_data = position >= data_start;
      const std::string expected =
          is_data ? "tensor '" + tensor_at(in_place, base + position)->name + "' is damaged: its checksum is "
                  : "";
      expect_error("flipped", Status::ERROR_FORMAT, expected.c_str(), [&] { parse_archive(changed); });
    }
}

Bytes one_byte(const std::string& metadata) {
  return archive_with_header(
      "{\"__metadata__\":{" + metadata + "},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
      1);
}

/// The header's checksum for one_byte(), by its words; `said`: keys and values.
std::string with_header(const std::string& metadata, std::string said) {
  said += "a|U8|1||";
  std::ranges::replace(said, '|', '\0');
  return R"("crc32c":")" + hexadecimal(slow_crc32c(bytes_of(said))) + '"' + (metadata.empty() ? "" : ",") +
         metadata;
}

void test_checksums_of_other_writers(void**) {
  const std::string good = hexadecimal(slow_crc32c(Bytes(1, std::byte{7})));
  const auto refused = [](const char* word, const std::string& metadata) {
    expect_error(word, Status::ERROR_FORMAT, word, [&] { parse_archive(one_byte(metadata)); });
  };
  const auto of_tensor = [](const std::string& key, const std::string& value) {
    return with_header('"' + key + "\":\"" + value + '"', key + '|' + value + '|');
  };
  assert_true(parse_archive(one_byte("")).metadata().empty());
  assert_true(parse_archive(one_byte(of_tensor("crc32c.a", good))).metadata().empty());
  refused("tensor 'a' is damaged: its checksum is ", of_tensor("crc32c.a", "00000000"));
  refused("'crc32c.a' is '123', expected 8 lower-case hexadecimal digits", of_tensor("crc32c.a", "123"));
  refused("expected 8 lower-case hexadecimal digits", of_tensor("crc32c.a", "0x345678"));
  refused("expected 8 lower-case hexadecimal digits", of_tensor("crc32c.a", "-1234567"));
  refused("expected 8 lower-case hexadecimal digits", of_tensor("crc32c.a", "ABCDEF01"));
  refused("'crc32c' is '', expected 8 lower-case hexadecimal digits", R"("crc32c":"")");
  refused("the header is damaged: its checksum is ", R"("crc32c":"00000000")");
}

/// Each checksum is missing once: a damaged key must not switch the others off.
void test_a_file_has_all_checksums_or_none(void**) {
  const std::string good = hexadecimal(slow_crc32c(Bytes(1, std::byte{7})));
  const auto refused = [](const char* word, const std::string& metadata) {
    expect_error(word, Status::ERROR_FORMAT, word, [&] { parse_archive(one_byte(metadata)); });
  };
  refused("the header is damaged: it has no checksum", R"("crc32c.a":")" + good + '"');
  refused("tensor 'a' has no checksum", with_header("", ""));
  refused("tensor 'a' has no checksum", with_header(R"("crc32c.b":"00000000")", "crc32c.b|00000000|"));
  refused("tensor 'b' is missing, but has a checksum",
          with_header(R"("crc32c.a":")" + good + R"(","crc32c.b":"00000000")",
                      "crc32c.a|" + good + "|crc32c.b|00000000|"));
}

void test_reserved_keys(void**) {
  for (const char* key : {"crc32c", "crc32c.", "crc32c.w"})
    expect_error(key, Status::ERROR_INVALID_ARGUMENT, "is reserved", [&] {
      serialize_archive({{key, "1"}}, {});
    });
  assert_true(parse_archive(serialize_archive({{"crc32", "1"}, {"crc32cc", "2"}}, {})).metadata().size() ==
              2);
}

}  // namespace

int test_checksums() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_published_values),
      cmocka_unit_test(test_every_length_and_start),
      cmocka_unit_test(test_long_texts),
      cmocka_unit_test(test_documented_checksums),
      cmocka_unit_test(test_no_flipped_bit_is_read),
      cmocka_unit_test(test_checksums_of_other_writers),
      cmocka_unit_test(test_a_file_has_all_checksums_or_none),
      cmocka_unit_test(test_reserved_keys),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
