// The ranks of a collective call as one of them sees them. What a rank does between two messages may fail: it
// keeps its failure until the next message has told the others, so that all of them leave the call at the
// same place.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <utility>

#include "ranks/communicator.hpp"

namespace bdl {

/// Which function they have called, or which part of it they begin.
enum class Call : std::uint8_t { fit = 1, step, epoch, search, laplace };

/// What all ranks must have in common when a collective call begins; the rest of its first message.
struct Agreement {
  std::uint8_t call = 0;  ///< a Call
  std::uint8_t dtype = 0;
  std::uint16_t shards = 0;
  std::uint32_t version = 0;
  std::uint64_t options = 0, shapes = 0, prior = 0, step = 0, state = 0;  ///< all but step are hashes
};
static_assert(sizeof(Agreement) == 48);

template <class T>
inline constexpr auto bytes_of = static_cast<Index>(sizeof(T));

/// What a rank has, as a hash.
struct Having {
  const char* what;
  std::uint64_t hash;
};

class Team {
 public:
  /// With the other ranks of a communicator; null: alone. On failure nothing has changed.
  void join(std::shared_ptr<Communicator> communicator);
  /// Alone, failures are exceptions as ever, and messages cost nothing.
  bool is_alone() const { return !communicator_; }
  Index rank() const { return is_alone() ? 0 : communicator_->rank(); }
  Index size() const { return is_alone() ? 1 : communicator_->size(); }
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

  /// A call begins: nothing has failed yet.
  void begin();
  /// work(), unless something has failed; a failure is kept for the next message, but one of messages within
  /// work(), which all ranks know of or which no message can tell.
  template <class Work>
  void attempt(Work&& work) {
    if (is_alone()) return work();
    if (has_failed()) return;
    try {
      work();
    } catch (const abi::__forced_unwind&) {
      throw;  // a thread that is cancelled
    } catch (...) {
      if (has_told_ || communicator_->is_broken()) throw;
      keep_failure();
    }
  }
  bool has_failed() const { return status_ != Status::OK; }
  /// A call of all ranks is about to begin: what checks() finds wrong with its arguments on this rank, the
  /// others hear by their first message, an agreement.
  template <class Checks>
  void check_before(Checks&& checks) {
    begin();
    attempt(checks);
    if (has_failed()) agree({}, {}, nullptr);
  }
  /// work(), of which whatever fails on this rank alone, between its messages, is told by a vote: the others'
  /// next message must be one. What all ranks compute in the same way, they may find to have run away
  /// (ERROR_DIVERGED) without a message.
  template <class Work>
  auto telling(Work&& work) {
    try {
      return work();
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      tell_failure();
      throw;
    }
  }

  // Messages of all ranks. Each throws on every rank if one has failed: its own failure on a rank that has,
  // ERROR_PEER with the other's number and words on one that has not. Training that ran away (ERROR_DIVERGED)
  // or was interrupted (STOPPED) is the same error for all.

  /// Does any rank want to stop after this step?
  bool vote(bool wants_to_stop = false);
  /// Fails on all ranks unless all say the same, naming what differs. option_hashes has one for each option.
  void agree(const Agreement& mine, ConstSpan<std::uint32_t> option_hashes, const char* (*option)(Index));
  /// The same of up to 64 things, in their order.
  void agree_on(ConstSpan<Having> mine);
  /// Every rank's message of sizes[rank] bytes, of a sum.
  void gather(std::span<std::byte> send, std::span<std::byte> receive, ConstSpan<std::int64_t> sizes);
  /// Parts of a sum; whether a rank has failed is told by the message of all that follows.
  void exchange(Index peer, std::span<std::byte> send, std::span<std::byte> receive);
  /// In place of it where only others swap parts.
  void skip_exchange() { communicator_->skip_exchange(); }

 private:
  void keep_failure() noexcept;
  void tell_failure();
  std::int32_t signal() const { return static_cast<std::int32_t>(status_); }
  Status status_of(Index rank) const;
  void conclude();
  Index leading_rank() const;
  [[noreturn]] void name_difference(Index rank, const char* what) const;
  [[noreturn]] void name_option(ConstSpan<std::uint32_t> hashes, const char* (*option)(Index));

  std::shared_ptr<Communicator> communicator_;
  Status status_ = Status::OK;
  bool has_told_ = false;  // the last message has thrown a failure, on all ranks
  std::exception_ptr failure_;
  char words_[304] = {};
  Buffer<std::byte> received_;
};

}  // namespace bdl
