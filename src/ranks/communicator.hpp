// Ranks of one program, processes or threads, and how bytes get from one to another: two callbacks of the
// host's. Every message begins with 16 bytes that say which it is and how its sender fares, so that ranks
// that have lost step notice it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/view.hpp"

namespace bdl {

/// What a message is.
enum class Message : std::uint32_t { agreement = 1, options, vote, reason, part, sum };

/// What it begins with.
struct Prefix {
  std::uint64_t sequence;
  std::uint32_t message;
  std::int32_t signal;  ///< of its sender: 0, or what the caller of the collective makes of it
};
inline constexpr Index prefix_bytes = 16;
static_assert(sizeof(Prefix) == prefix_bytes);

struct CommunicatorStatistics {
  Index calls = 0, sent = 0, received = 0;  ///< callbacks; bytes, counted once for each rank that gets them
  double seconds = 0;
};

class Communicator {
 public:
  struct Callbacks {
    std::int32_t (*all_gather)(void* user_data, const void* send, std::int64_t send_bytes, void* receive,
                               const std::int64_t* receive_bytes);
    std::int32_t (*exchange)(void* user_data, std::int32_t peer, const void* send, std::int64_t send_bytes,
                             void* receive, std::int64_t receive_bytes);
    void* user_data;
  };
  static constexpr std::int32_t most_ranks = 1 << 15;

  Communicator(std::int32_t rank, std::int32_t size, const Callbacks& callbacks);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();
  /// Called with the user's data in the end.
  void set_destroy(void (*destroy)(void*)) { destroy_ = destroy; }

  Index rank() const { return rank_; }
  Index size() const { return size_; }
  const CommunicatorStatistics& statistics() const { return statistics_; }

  /// Every rank's message, of sizes[rank] bytes, goes to every rank, where they stand in `receive` in the
  /// order of the ranks. Each has room for its prefix in front. All fails with ERROR_COMMUNICATION: from then
  /// on the communicator is of no more use.
  void all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                  std::span<std::byte> receive, ConstSpan<std::int64_t> sizes);
  /// The same with one size for all.
  void all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                  std::span<std::byte> receive);
  /// Swaps messages with a rank that does the same.
  void exchange(Message message, std::int32_t signal, Index peer, std::span<std::byte> send,
                std::span<std::byte> receive);
  /// Other ranks swap messages, and this one has none to swap.
  void skip_exchange() { ++sequence_; }
  /// That a rank has sent with its part of the last all_gather().
  std::int32_t signal(Index rank) const { return signals_.data()[rank]; }
  /// Fails if it has failed before.
  void check_works() const;
  bool is_broken() const { return is_broken_; }

 private:
  void begin(Message message, std::int32_t signal, std::span<std::byte> send);
  void end(std::int32_t answer, const char* which);
  void check_prefix(Message message, Index from, std::span<const std::byte> received);
  [[noreturn]] void fail_broken(const char* why) const;
  std::int32_t rank_, size_;
  Callbacks callbacks_;
  void (*destroy_)(void*) = nullptr;
  std::uint64_t sequence_ = 0;
  bool is_broken_ = false;
  double began_ = 0;
  CommunicatorStatistics statistics_;
  Buffer<std::int64_t> equal_sizes_;
  Buffer<std::int32_t> signals_;
};

}  // namespace bdl
