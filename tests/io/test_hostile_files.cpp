// Damaged and malicious archives: each is refused with its reason, none crashes the reader.
#include <random>

#include "io_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Hostile {
  const char* word;  // of the expected message
  const char* header;
  std::size_t data_size;
};

const Hostile hostile_headers[] = {
    // not JSON
    {"begin with '{'", "", 0},
    {"begin with '{'", " {}", 0},
    {"begin with '{'", "[]", 0},
    {"begin with '{'", "\xEF\xBB\xBF{}", 0},
    {"not valid JSON", "{", 0},
    {"not valid JSON", "{}}", 0},
    {"not valid JSON", "{/**/}", 0},
    {"not valid JSON", R"({"a)", 0},
    {"not valid JSON", R"({"a":NaN})", 0},
    {"not valid JSON", R"({"__metadata__":{"a":"b",}})", 0},
    {"not valid JSON", R"({"a":{"dtype":"F64","shape":[01]}})", 0},
    {"not valid JSON", R"({"__metadata__":{"a":"\x"}})", 0},
    {"not valid JSON", R"({"__metadata__":{"a":"\ud800"}})", 0},
    {"number overflow", R"({"a":{"dtype":"F64","shape":[1e999]}})", 0},
    // text
    {"UTF-8", "{\"__metadata__\":{\"a\":\"\xFF\"}}", 0},
    {"UTF-8", "{\"__metadata__\":{\"\xC3\":\"b\"}}", 0},
    {"UTF-8", "{\"__metadata__\":{\"a\":\"\xC0\x80\"}}", 0},
    {"UTF-8", "{\"__metadata__\":{\"a\":\"\xED\xA0\x80\"}}", 0},
    {"U+0000", R"({"a\u0000b":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1},
    {"U+0000", R"({"__metadata__":{"a":"\u0000"}})", 0},
    {"U+0000", R"({"__metadata__":{"\u0000":"a"}})", 0},
    // duplicate keys
    {"duplicate key 'a'",
     R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
     1},
    {"duplicate key 'a'",
     R"({"\u0061":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
     1},
    {"duplicate key '__metadata__'", R"({"__metadata__":{},"__metadata__":{}})", 0},
    {"duplicate key 'k'", R"({"__metadata__":{"k":"1","k":"2"}})", 0},
    {"duplicate key 'dtype'", R"({"a":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1},
    {"duplicate key 'shape'", R"({"a":{"dtype":"U8","shape":[2],"shape":[1],"data_offsets":[0,1]}})", 1},
    {"duplicate key 'data_offsets'", R"({"a":{"data_offsets":[0,1],"data_offsets":[0,1]}})", 1},
    // structure
    {"'a' is null, expected an object", R"({"a":null})", 0},
    {"'a' is an array, expected an object", R"({"a":[]})", 0},
    {"'a' is a string, expected an object", R"({"a":"b"})", 0},
    {"'__metadata__' is null, expected an object", R"({"__metadata__":null})", 0},
    {"metadata value 'k' is a number, expected a string", R"({"__metadata__":{"k":1}})", 0},
    {"metadata value 'k' is null, expected a string", R"({"__metadata__":{"k":null}})", 0},
    {"metadata value 'k' is an object, expected a string", R"({"__metadata__":{"k":{}}})", 0},
    {"metadata value 'k' is an array, expected a string", R"({"__metadata__":{"k":[]}})", 0},
    {"unknown field 'strides'", R"({"a":{"dtype":"U8","strides":[]}})", 0},
    {"has no 'dtype'", R"({"a":{"shape":[],"data_offsets":[0,1]}})", 1},
    {"has no 'shape'", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1},
    {"has no 'data_offsets'", R"({"a":{"dtype":"U8","shape":[]}})", 1},
    {"has no 'dtype'", R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"b":{}})", 1},
    // fields
    {"unknown dtype 'F65'", R"({"a":{"dtype":"F65","shape":[],"data_offsets":[0,8]}})", 8},
    {"unknown dtype 'f64'", R"({"a":{"dtype":"f64","shape":[],"data_offsets":[0,8]}})", 8},
    {"unknown dtype 'BF16'", R"({"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}})", 2},
    {"'dtype' of tensor 'a' is a number", R"({"a":{"dtype":64}})", 0},
    {"'dtype' of tensor 'a' is an array", R"({"a":{"dtype":["F64"]}})", 0},
    {"'shape' of tensor 'a' is a number", R"({"a":{"shape":1}})", 0},
    {"'shape' of tensor 'a' is a string", R"({"a":{"shape":"[1]"}})", 0},
    {"'shape' of tensor 'a' is an object", R"({"a":{"shape":{}}})", 0},
    {"contains a negative number", R"({"a":{"shape":[-1]}})", 0},
    {"contains a negative number", R"({"a":{"data_offsets":[-8,0]}})", 0},
    {"contains a number that is no 64-bit integer", R"({"a":{"shape":[1.0]}})", 0},
    {"contains a number that is no 64-bit integer", R"({"a":{"shape":[18446744073709551616]}})", 0},
    {"contains a number above 2^63", R"({"a":{"shape":[9223372036854775808]}})", 0},
    {"contains a boolean", R"({"a":{"shape":[true]}})", 0},
    {"contains a string", R"({"a":{"shape":["1"]}})", 0},
    {"contains null", R"({"a":{"data_offsets":[null,1]}})", 0},
    {"contains an array", R"({"a":{"shape":[[1]]}})", 0},
    {"contains an object", R"({"a":{"shape":[{}]}})", 0},
    {"has more than 32 numbers",
     R"({"a":{"shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}})", 0},
    {"has 0 numbers, expected 2", R"({"a":{"data_offsets":[]}})", 0},
    {"has 1 numbers, expected 2", R"({"a":{"data_offsets":[0]}})", 0},
    {"has more than 2 numbers", R"({"a":{"data_offsets":[0,1,2]}})", 0},
    // sizes
    {"overflows", R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0},
    {"overflows", R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0},
    {"overflows", R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0},
    {"span 8 bytes, dtype and shape expected 16", R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})",
     8},
    {"span 8 bytes, dtype and shape expected 4", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,8]}})",
     8},
    {"span 8 bytes, dtype and shape expected 0",
     R"({"a":{"dtype":"F64","shape":[3,0],"data_offsets":[0,8]}})", 8},
    {"end before they begin", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1},
    {"file has 7 bytes of tensor data, header expected 8",
     R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})", 7},
    {"file has 9 bytes of tensor data, header expected 8",
     R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})", 9},
    {"file has 1 bytes of tensor data, header expected 0", "{}", 1},
    {"expected 9223372036854775807",
     R"({"a":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]}})", 1},
    // layout
    {"'a' leaves a hole: it begins at byte 1, expected 0",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2},
    {"'b' leaves a hole: it begins at byte 2, expected 1",
     R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
     3},
    {"'b' overlaps its predecessor: it begins at byte 1, expected 2",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
     3},
    {"overlaps its predecessor",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
     2},
    {"overlaps its predecessor",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})",
     2},
};

void test_hostile_headers(void**) {
  for (const Hostile& hostile : hostile_headers) {
    expect_error(hostile.header, Status::ERROR_FORMAT, hostile.word,
                 [&] { parse_archive(archive_with_header(hostile.header, hostile.data_size)); });
  }
}

void test_zero_bytes_in_the_header(void**) {
  for (const std::string_view header : {std::string_view("{}\0", 3), std::string_view("{}\0rest", 7),
                                        std::string_view("{\"a\0", 4), std::string_view("{\0}", 3)}) {
    expect_error("zero byte", Status::ERROR_FORMAT, "zero byte",
                 [&] { parse_archive(archive_with_header(header, 0)); });
  }
}

void test_accepted_oddities(void**) {
  const char* const headers[] = {
      "{}", "{ }\n\t ", R"({"__metadata__":{}})",
      R"({"b":{"data_offsets":[0,0],"shape":[0],"dtype":"F64"},"a":{"dtype":"U8","shape":[1,0],"data_offsets":[0,0]}})",
      R"({"a":{"data_offsets":[0,0],"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0]}})"};
  for (const char* header : headers) {
    assert_true(accepted_is_consistent(parse_archive(archive_with_header(header, 0))));
  }
}

void test_hostile_header_lengths(void**) {
  const auto expect = [](const char* word, std::uint64_t length) {
    Bytes archive = archive_with_header("{}", 0);
    set_header_length(archive, length);
    expect_error(word, Status::ERROR_FORMAT, word, [&] { parse_archive(archive); });
  };
  expect("begin with '{'", 0);
  expect("not valid JSON", 1);
  expect("truncated: 2 bytes follow the header length, expected 3", 3);
  expect("truncated", 100'000'000);
  expect("header length is 100000001, expected at most 100000000", 100'000'001);
  expect("expected at most", UINT64_MAX - 7);
  expect("18446744073709551615", UINT64_MAX);
}

void test_deep_nesting(void**) {
  constexpr std::size_t depth = 1'000'000;
  const std::string arrays = R"({"a":{"shape":)" + std::string(depth, '[');
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) objects += R"({"a":)";
  expect_error("arrays", Status::ERROR_FORMAT, "contains an array",
               [&] { parse_archive(archive_with_header(arrays, 0)); });
  expect_error("objects", Status::ERROR_FORMAT, "unknown field 'a'",
               [&] { parse_archive(archive_with_header(objects, 0)); });
}

void test_messages_stay_printable(void**) {
  std::string name = "\\n";
  for (int i = 0; i < 100; ++i) name += "\xC3\xA9";
  const std::string header = "{\"" + name + "\":null}";
  std::string expected = "header entry '?";
  for (int i = 0; i < 29; ++i) expected += "\xC3\xA9";
  expected += "...' is null, expected an object";
  expect_error("long name", Status::ERROR_FORMAT, expected.c_str(),
               [&] { parse_archive(archive_with_header(header, 0)); });
}

void test_truncation_at_every_byte(void**) {
  const Bytes archive = small_archive();
  for (std::size_t size = 0; size < archive.size(); ++size) {
    expect_error("truncated", Status::ERROR_FORMAT, "", [&] {
      parse_archive(Bytes(archive.begin(), archive.begin() + static_cast<std::ptrdiff_t>(size)));
    });
  }
}

bool parses(const Bytes& archive) {
  try {
    assert_true(accepted_is_consistent(parse_archive(archive)));
    return true;
  } catch (const Error& error) {
    assert_int_equal(error.status(), Status::ERROR_FORMAT);
    assert_true(std::strlen(error.what()) > 10);
    return false;
  }
}

void test_every_change_of_a_header_byte(void**) {
  const Bytes original = unchecked_archive();
  const auto length =
      std::to_integer<std::size_t>(original[0]) + 256 * std::to_integer<std::size_t>(original[1]);
  for (std::size_t position = 0; position < 8 + length; ++position) {
    Bytes changed = original;
    for (int mask = 1; mask < 256; ++mask) {
      changed[position] = original[position] ^ static_cast<std::byte>(mask);
      if (parses(changed)) assert_true(position >= 8);  // no other header length fits
    }
  }
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  Bytes mutate(Bytes archive) {
    for (std::uint64_t count = 1 + below(4); count > 0; --count) mutate_once(archive);
    if (below(4) != 0 && archive.size() >= 8) repair_header_length(archive);
    return archive;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  auto at(Bytes& archive, std::size_t position) {
    return archive.begin() + static_cast<std::ptrdiff_t>(position);
  }

  void mutate_once(Bytes& archive) {
    static constexpr std::string_view tokens[] = {
        "{",       "}",     "[",         "]", ",",  ":",  "\"",   "0",   "-",   "1e9",  "null",
        "\\u0000", "\\ud8", "\"shape\"", "8", "16", "24", "\xC3", "F64", "I32", "true", "\"w\""};
    const std::size_t position = below(archive.size() + 1);
    const std::size_t length = std::min(below(12), archive.size() - position);
    switch (below(5)) {
      case 0:
        if (position < archive.size()) archive[position] = static_cast<std::byte>(below(256));
        break;
      case 1:
        if (position < archive.size()) archive[position] ^= static_cast<std::byte>(1U << below(8));
        break;
      case 2:
        archive.erase(at(archive, position), at(archive, position + length));
        break;
      case 3: {
        const Bytes part(at(archive, position), at(archive, position + length));
        const std::size_t target = below(archive.size() + 1);
        archive.insert(at(archive, target), part.begin(), part.end());
        break;
      }
      default: {
        const Bytes token = bytes_of(tokens[below(std::size(tokens))]);
        archive.insert(at(archive, position), token.begin(), token.end());
      }
    }
  }

  /// Otherwise most mutants would fail at the first check.
  void repair_header_length(Bytes& archive) {
    const auto last_brace = std::find(archive.rbegin(), archive.rend() - 8, static_cast<std::byte>('}'));
    set_header_length(archive, static_cast<std::uint64_t>(archive.rend() - 8 - last_brace));
  }

  std::mt19937_64 random_;
};

void test_random_mutations(void**) {
  const Bytes original = unchecked_archive();
  Mutator mutator(20240229);
  int accepted = 0;
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) accepted += parses(mutator.mutate(original)) ? 1 : 0;
  assert_in_range(accepted, 100, count / 2);  // the mutants reach both outcomes
}

}  // namespace

int test_hostile_files() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_hostile_headers),
      cmocka_unit_test(test_zero_bytes_in_the_header),
      cmocka_unit_test(test_accepted_oddities),
      cmocka_unit_test(test_hostile_header_lengths),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_messages_stay_printable),
      cmocka_unit_test(test_truncation_at_every_byte),
      cmocka_unit_test(test_every_change_of_a_header_byte),
      cmocka_unit_test(test_random_mutations),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
