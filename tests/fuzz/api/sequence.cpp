#include "fuzz/api/sequence.hpp"

#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// One sequence of sixteen is of optimizers with shards: the option alone is rarely drawn.
std::int64_t shards_of(std::uint8_t first) {
  return first >= 240 ? 2 + first / 2 % 2 : 0;
}

}  // namespace

void check_sequence(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const Session::Setting setting{data[0] % 2 == 1, shards_of(data[0])};
  const auto run = [&] { return Session(data + 1, size - 1, setting).run(); };
  const std::uint64_t once = run();
  // Which allocation is the k-th differs where the library keeps something from before.
  if (!setting.allocations_fail && run() != once) Session(data, 0, {}).broken("other bits when run again");
}

std::vector<std::uint8_t> drawn_sequence(std::uint64_t number) {
  Numbers numbers(number);
  std::vector<std::uint8_t> bytes(64 + numbers.below(512));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers.below(256));
  return bytes;
}

}  // namespace fuzz
