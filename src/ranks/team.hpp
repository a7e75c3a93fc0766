// The ranks of a collective call, from the point of view of one of them. If work between two messages fails
// on one rank, it keeps the failure until the next message has told the others, so that all ranks leave the
// call at the same place.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <utility>

#include "ranks/communicator.hpp"

namespace bdl {

/// The function, or stage of a function, that a rank has called.
enum class Call : std::uint8_t { fit = 1, step, epoch, search, laplace };

/// Arguments that must be equal on all ranks when a collective call begins; its first message holds them.
struct Agreement {
  std::uint8_t call = 0;  ///< a Call
  std::uint8_t dtype = 0;
  std::uint16_t shards = 0;
  std::uint32_t version = 0;
  std::uint64_t options = 0, shapes = 0, prior = 0, step = 0, state = 0;  ///< hashes, except for `step`
};
static_assert(sizeof(Agreement) == 48);

template <class T>
inline constexpr auto bytes_of = static_cast<Index>(sizeof(T));

/// An argument or property that ranks compare, as a hash.
struct Having {
  const char* what;
  std::uint64_t hash;
};

class Team {
 public:
  /// Joins the ranks of a communicator; null: works alone. On failure nothing has changed.
  void join(std::shared_ptr<Communicator> communicator);
  /// True if this rank works alone: failures are then ordinary exceptions, and messages cost nothing.
  bool is_alone() const { return !communicator_; }
  Index rank() const { return is_alone() ? 0 : communicator_->rank(); }
  Index size() const { return is_alone() ? 1 : communicator_->size(); }
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

  /// Begins a call: no failure is pending.
  void begin();
  /// Calls work(), unless a failure is pending. A failure of work() is kept for the next message; a failure
  /// of messages within work() is thrown, because all ranks know of it or no message can tell them.
  template <class Work>
  void attempt(Work&& work) {
    if (is_alone()) return work();
    if (has_failed()) return;
    try {
      work();
    } catch (const abi::__forced_unwind&) {
      throw;  // pthread cancellation of this thread
    } catch (...) {
      if (has_told_ || communicator_->is_broken()) throw;
      keep_failure();
    }
  }
  bool has_failed() const { return status_ != Status::OK; }
  /// Begins a call of all ranks: checks() checks the arguments on this rank, and its failure goes to the
  /// others with the first message, an agreement.
  template <class Checks>
  void check_before(Checks&& checks) {
    begin();
    attempt(checks);
    if (has_failed()) agree({}, {}, nullptr);
  }
  /// Calls work(), and tells the other ranks by a vote if it fails on this rank alone: their next message
  /// must be a vote. ERROR_DIVERGED needs no message, since all ranks find it in the same results.
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

  // Messages that all ranks send together. Each throws on every rank if one has failed: the rank that
  // failed throws its error, the others ERROR_PEER with the rank's number and message. ERROR_DIVERGED and
  // STOPPED (interrupted) are thrown on all ranks alike.

  /// Returns true if any rank wants to stop after this step.
  bool vote(bool wants_to_stop = false);
  /// Fails on all ranks, naming the difference, unless all arguments agree. option_hashes has one hash per
  /// option.
  void agree(const Agreement& mine, ConstSpan<std::uint32_t> option_hashes, const char* (*option)(Index));
  /// Fails on all ranks unless up to 64 properties, in the same order, agree.
  void agree_on(ConstSpan<Having> mine);
  /// Gathers every rank's message of sizes[rank] bytes, which are slices of a sum.
  void gather(std::span<std::byte> send, std::span<std::byte> receive, ConstSpan<std::int64_t> sizes);
  /// Swaps slices of a sum with `peer`; the next message of all ranks tells whether one has failed.
  void exchange(Index peer, std::span<std::byte> send, std::span<std::byte> receive);
  /// Must be called in place of exchange() on ranks that have nothing to swap.
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
  bool has_told_ = false;  // true if the last message has thrown a failure on all ranks
  std::exception_ptr failure_;
  char words_[304] = {};
  Buffer<std::byte> received_;
};

}  // namespace bdl
