#include "ranks/team.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace bdl {
namespace {

constexpr std::int32_t stop_wish = 1 << 8;  // a bit beside the status
constexpr Index reason_bytes = prefix_bytes + 304, most_options = 256,
                option_bytes = prefix_bytes + 4 * most_options;  // bytes of the longest message

/// True for errors that mean the same on all ranks, since they come from the training that ranks do
/// together.
bool is_common(Status status) {
  return status == Status::ERROR_DIVERGED || status == Status::STOPPED;
}

}  // namespace

void Team::join(std::shared_ptr<Communicator> communicator) {
  if (communicator) received_.reserve(communicator->size() * option_bytes);
  communicator_ = std::move(communicator);
  status_ = Status::OK;
  failure_ = nullptr;
}

void Team::begin() {
  status_ = Status::OK;
  has_told_ = false;
  failure_ = nullptr;
  if (!is_alone()) communicator_->check_works();
}

/// Keeps the exception that is being handled, with its status and message.
void Team::keep_failure() noexcept {
  failure_ = std::current_exception();
  const auto keep = [&](Status status, const char* words) {
    status_ = status;
    std::snprintf(words_, sizeof words_, "%s", words);
  };
  try {
    throw;
  } catch (const Error& error) {
    keep(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    keep(Status::ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    keep(Status::ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    keep(Status::ERROR_INTERNAL, error.what());
  } catch (...) {
    keep(Status::ERROR_INTERNAL, "unknown exception");
  }
}

/// Tells the other ranks of the exception that is being handled, unless they know of it.
void Team::tell_failure() {
  if (is_alone() || has_told_) return;
  keep_failure();
  if (status_ != Status::ERROR_DIVERGED) vote();
  status_ = Status::OK;
  failure_ = nullptr;
}

Status Team::status_of(Index rank) const {
  return static_cast<Status>(communicator_->signal(rank) & (stop_wish - 1));
}

bool Team::vote(bool wants_to_stop) {
  if (is_alone()) return wants_to_stop;
  std::byte message[prefix_bytes];
  communicator_->all_gather(Message::vote, signal() | (wants_to_stop ? stop_wish : 0), message,
                            received_.first(size() * prefix_bytes));
  bool stops = false;
  for (Index r = 0; r < size(); ++r) stops = stops || (communicator_->signal(r) & stop_wish) != 0;
  conclude();
  return stops;
}

void Team::gather(std::span<std::byte> send, std::span<std::byte> receive, ConstSpan<std::int64_t> sizes) {
  communicator_->all_gather(Message::sum, signal(), send, receive, sizes);
  conclude();
}

void Team::exchange(Index peer, std::span<std::byte> send, std::span<std::byte> receive) {
  communicator_->exchange(Message::part, signal(), peer, send, receive);
}

/// Returns the rank whose error all ranks report: the first whose error is not common to all ranks, else the
/// first that failed; -1 if none has.
Index Team::leading_rank() const {
  Index leading = -1;
  for (Index r = size() - 1; r >= 0; --r) {
    const Status status = status_of(r);
    if (status == Status::OK) continue;
    if (leading < 0 || !is_common(status) || is_common(status_of(leading))) leading = r;
  }
  return leading;
}

/// Reads the statuses that came with a message of all ranks. If one has failed, all ranks get its reason.
void Team::conclude() {
  const Index leading = leading_rank();
  has_told_ = leading >= 0;
  if (!has_told_) return;
  const Status status = status_of(leading);
  std::byte message[reason_bytes];
  std::memcpy(message + prefix_bytes, words_, sizeof words_);
  const auto received = received_.first(size() * reason_bytes);
  communicator_->all_gather(Message::reason, signal(), message, received);
  const Status own = std::exchange(status_, Status::OK);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  if (own != Status::OK && (is_common(own) ? own == status : true)) std::rethrow_exception(failure);
  char words[sizeof words_];
  std::memcpy(words, received.data() + leading * reason_bytes + prefix_bytes, sizeof words);
  words[sizeof words - 1] = '\0';
  fail(is_common(status) ? status : Status::ERROR_PEER, "process %lld of %lld %s: %s",
       static_cast<long long>(leading), static_cast<long long>(size()),
       is_common(status) ? "says" : "has failed", words);
}

void Team::agree(const Agreement& mine, ConstSpan<std::uint32_t> option_hashes,
                 const char* (*option)(Index)) {
  if (is_alone()) return;
  constexpr Index bytes = prefix_bytes + static_cast<Index>(sizeof mine);
  std::byte message[bytes];
  std::memcpy(message + prefix_bytes, &mine, sizeof mine);
  const auto received = received_.first(size() * bytes);
  communicator_->all_gather(Message::agreement, signal(), message, received);
  conclude();
  const auto said = [&](Index rank) {
    Agreement agreement;
    std::memcpy(&agreement, received.data() + rank * bytes + prefix_bytes, sizeof agreement);
    return agreement;
  };
  const Agreement first = said(0);
  has_told_ = true;  // until the checks below find no difference
  const auto check = [&](auto Agreement::*field, const char* what) {
    for (Index r = 1; r < size(); ++r)
      if (said(r).*field != first.*field) name_difference(r, what);
  };
  check(&Agreement::version,
        "the version of libbdl, or in the BLAS or the processor's vectors, on which results depend: compare "
        "their build info");
  check(&Agreement::call, "the function that it has called");
  check(&Agreement::dtype, "dtype: one computes in f32, the other in f64");
  check(&Agreement::shapes,
        "method, family, N, or a size of data, of their blocks, model or posterior, or the number of epochs");
  for (Index r = 1; r < size(); ++r)
    if (said(r).options != first.options) name_option(option_hashes, option);
  check(&Agreement::shards, "the number of shards that training has begun with");
  check(&Agreement::prior, "the prior");
  check(&Agreement::step, "the number of steps taken");
  check(&Agreement::state, "posterior, noise or averages: all processes begin with the same checkpoint");
  has_told_ = false;
}

void Team::name_difference(Index rank, const char* what) const {
  fail(Status::ERROR_INVALID_ARGUMENT, "process %lld of %lld differs from process 0 in %s",
       static_cast<long long>(rank), static_cast<long long>(size()), what);
}

void Team::agree_on(ConstSpan<Having> mine) {
  if (is_alone()) return;
  constexpr std::size_t most = 64;
  const std::size_t count = std::min(mine.size(), most), bytes = prefix_bytes + 8 * count;
  std::byte message[prefix_bytes + 8 * most];
  for (std::size_t i = 0; i < count; ++i) std::memcpy(message + prefix_bytes + 8 * i, &mine[i].hash, 8);
  const auto received = received_.first(size() * static_cast<Index>(bytes));
  communicator_->all_gather(Message::options, signal(), std::span(message).first(bytes), received);
  conclude();
  for (std::size_t i = 0; i < count; ++i)
    for (Index r = 1; r < size(); ++r)
      if (std::memcmp(received.data() + prefix_bytes + 8 * i,
                      received.data() + static_cast<std::size_t>(r) * bytes + prefix_bytes + 8 * i, 8) != 0)
        name_difference(r, mine[i].what);
}

void Team::name_option(ConstSpan<std::uint32_t> hashes, const char* (*option)(Index)) {
  const Index count = std::min(std::ssize(hashes), most_options), bytes = prefix_bytes + count * 4;
  std::byte message[option_bytes];
  std::memcpy(message + prefix_bytes, hashes.data(), static_cast<std::size_t>(4 * count));
  const auto received = received_.first(size() * bytes);
  communicator_->all_gather(Message::options, 0, std::span(message).first(static_cast<std::size_t>(bytes)),
                            received);
  const auto said = [&](Index rank, Index i) {
    std::uint32_t hash;
    std::memcpy(&hash, received.data() + rank * bytes + prefix_bytes + i * 4, sizeof hash);
    return hash;
  };
  for (Index i = 0; i < count; ++i)
    for (Index r = 1; r < size(); ++r)
      if (said(r, i) != said(0, i))
        fail(Status::ERROR_INVALID_ARGUMENT, "process %lld of %lld differs from process 0 in option \"%s\"",
             static_cast<long long>(r), static_cast<long long>(size()), option(i));
  fail(Status::ERROR_INVALID_ARGUMENT, "processes differ in their options");
}

}  // namespace bdl
