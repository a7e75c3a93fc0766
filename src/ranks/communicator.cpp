#include "ranks/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/callback.hpp"

namespace bdl {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the result of a callback; calls lose(why) if it throws, since its message is lost then.
template <class Callback, class Lose>
std::int32_t answer_or_loss(const char* which, Callback&& callback, Lose&& lose) {
  try {
    return answer_of(which, callback);
  } catch (const Error& error) {
    lose(error.what());
    throw;
  }
}

}  // namespace

Communicator::Communicator(std::int32_t rank, std::int32_t size, const Callbacks& callbacks)
    : rank_(rank), size_(size), callbacks_(callbacks), equal_sizes_(size), signals_(size) {
  std::fill_n(signals_.data(), size, 0);
}

Communicator::~Communicator() {
  destroy_user_data(destroy_, callbacks_.user_data);
}

void Communicator::check_works() const {
  if (is_broken_) fail_broken("a message was lost before: make a new communicator");
}

void Communicator::fail_broken(const char* why) const {
  fail(Status::ERROR_COMMUNICATION, "process %d of %d: %s", rank_, size_, why);
}

/// Writes the prefix; the communicator counts as broken until the message has come through.
void Communicator::begin(Message message, std::int32_t signal, std::span<std::byte> send) {
  check_works();
  const Prefix prefix{++sequence_, static_cast<std::uint32_t>(message), signal};
  std::memcpy(send.data(), &prefix, sizeof prefix);
  is_broken_ = true;
  set_callback_message(nullptr);
  ++statistics_.calls;
  began_ = now();
}

void Communicator::end(std::int32_t answer, const char* which) {
  statistics_.seconds += now() - began_;
  const CallbackMessage message = remove_callback_message();
  if (answer != 0)
    fail(Status::ERROR_COMMUNICATION, "process %d of %d: the %s callback returned %d, expected 0%s%s", rank_,
         size_, which, answer, message.colon(), message.text());
}

void Communicator::check_prefix(Message message, Index from, std::span<const std::byte> received) {
  Prefix prefix;
  std::memcpy(&prefix, received.data(), sizeof prefix);
  if (prefix.sequence != sequence_ || prefix.message != static_cast<std::uint32_t>(message))
    fail(Status::ERROR_COMMUNICATION,
         "process %d of %d: process %lld has sent message %llu of kind %u, expected message %llu of kind %u: "
         "the "
         "processes are not in the same call, or a message has been lost",
         rank_, size_, static_cast<long long>(from), static_cast<unsigned long long>(prefix.sequence),
         prefix.message, static_cast<unsigned long long>(sequence_), static_cast<std::uint32_t>(message));
  signals_.data()[from] = prefix.signal;
}

void Communicator::all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                              std::span<std::byte> receive, ConstSpan<std::int64_t> sizes) {
  begin(message, signal, send);
  const auto bytes = static_cast<std::int64_t>(send.size());
  const auto callback = [&] {
    return callbacks_.all_gather(callbacks_.user_data, send.data(), bytes, receive.data(), sizes.data());
  };
  end(answer_or_loss("all_gather", callback, [&](const char* why) { fail_broken(why); }), "all_gather");
  std::size_t at = 0;
  for (Index r = 0; r < size_; at += static_cast<std::size_t>(sizes[static_cast<std::size_t>(r)]), ++r)
    check_prefix(message, r, receive.subspan(at));
  is_broken_ = false;
  statistics_.sent += bytes * (size_ - 1);
  statistics_.received += static_cast<Index>(at) - bytes;
}

void Communicator::all_gather(Message message, std::int32_t signal, std::span<std::byte> send,
                              std::span<std::byte> receive) {
  std::fill_n(equal_sizes_.data(), size_, static_cast<std::int64_t>(send.size()));
  all_gather(message, signal, send, receive, std::as_const(equal_sizes_).first(size_));
}

void Communicator::exchange(Message message, std::int32_t signal, Index peer, std::span<std::byte> send,
                            std::span<std::byte> receive) {
  begin(message, signal, send);
  const auto callback = [&] {
    return callbacks_.exchange(callbacks_.user_data, static_cast<std::int32_t>(peer), send.data(),
                               static_cast<std::int64_t>(send.size()), receive.data(),
                               static_cast<std::int64_t>(receive.size()));
  };
  end(answer_or_loss("exchange", callback, [&](const char* why) { fail_broken(why); }), "exchange");
  check_prefix(message, peer, receive);
  is_broken_ = false;
  statistics_.sent += static_cast<Index>(send.size());
  statistics_.received += static_cast<Index>(receive.size());
}

}  // namespace bdl
