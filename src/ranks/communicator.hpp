// The ranks of one program (processes or threads), and two callbacks of the host that move bytes between
// them. Every message begins with 16 bytes that name the message and the sender's status, so that ranks
// which are out of step notice it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/view.hpp"

namespace bdl {

/// Kinds of messages.
enum class Message : std::uint32_t { agreement = 1, options, vote, reason, part, sum };

/// First 16 bytes of every message.
struct Prefix {
  std::uint64_t sequence;
  std::uint32_t message;
  std::int32_t signal;  ///< signal of the sender: 0, or a value that has a meaning for the caller (Team)
};
inline constexpr Index prefix_bytes = 16;
static_assert(sizeof(Prefix) == prefix_bytes);

struct CommunicatorStatistics {
  Index calls = 0, sent = 0,
        received = 0;  ///< number of callbacks; bytes, counted once for each rank that receives them
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
  /// Sets a function that is called with the user's data when the communicator is destroyed.
  void set_destroy(void (*destroy)(void*)) { destroy_ = destroy; }

  Index rank() const { return rank_; }
  Index size() const { return size_; }
  const CommunicatorStatistics& statistics() const { return statistics_; }

  /// Sends the message of every rank (sizes[rank] bytes) to every rank; they stand in `receive` in the order
  /// of the ranks. `send` and each message received begin with room for the prefix. After a failure
  /// (ERROR_COMMUNICATION) the communicator cannot be used any more.
  void all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                  std::span<std::byte> receive, ConstSpan<std::int64_t> sizes);
  /// Gathers messages of one size.
  void all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                  std::span<std::byte> receive);
  /// Swaps messages with rank `peer`, which must call exchange() with this rank.
  void exchange(Message message, std::int32_t signal, Index peer, std::span<std::byte> send,
                std::span<std::byte> receive);
  /// Counts an exchange in which this rank swaps no message, so that all ranks number messages alike.
  void skip_exchange() { ++sequence_; }
  /// Returns the signal that rank `rank` attached to its message of the last all_gather().
  std::int32_t signal(Index rank) const { return signals_.data()[rank]; }
  /// Fails if an earlier message has failed.
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
