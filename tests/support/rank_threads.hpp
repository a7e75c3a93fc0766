// Ranks of one process, each on a thread of its own, that swap bytes through memory: what MPI does for
// processes. A rank's callback can be made to fail, or to fill in garbage.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace bdl::testing {

class RankThreads {
 public:
  enum class Fault { none, fails, garbage };

  /// The user data of the callbacks of a rank.
  struct Rank {
    RankThreads* all;
    int number;
    Fault fault = Fault::none;
    int faulty_call = 0;  ///< which of its calls goes wrong, from 1
    int calls = 0;
  };

  explicit RankThreads(int size) : size_(size), pairs_(static_cast<std::size_t>(size * size)) {
    for (int r = 0; r < size; ++r) ranks_.push_back({this, r});
    gathers_.resize(static_cast<std::size_t>(size));
    gone_.resize(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) {
      gather_of(r).owner = r;
      for (int to = 0; to < size; ++to) pair(r, to).owner = r;
    }
  }
  int size() const { return size_; }
  Rank& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  /// work(rank) on each rank's thread; one that returns is gone, which the others then notice.
  template <class Work>
  void run(Work work) {
    gone_.assign(gone_.size(), 0);
    std::vector<std::thread> threads;
    for (Rank& rank : ranks_)
      threads.emplace_back([&, this] {
        work(rank);
        const std::lock_guard lock(mutex_);
        gone_[static_cast<std::size_t>(rank.number)] = 1;
        changed_.notify_all();
      });
    for (std::thread& thread : threads) thread.join();
  }

  static std::int32_t all_gather(void* user_data, const void* send, std::int64_t send_bytes, void* receive,
                                 const std::int64_t* receive_bytes) {
    Rank& rank = *static_cast<Rank*>(user_data);
    std::int64_t all = 0;
    for (int r = 0; r < rank.all->size_; ++r) all += receive_bytes[r];
    return rank.all->faulty(rank, receive, all, [&] {
      auto* to = static_cast<char*>(receive);
      std::vector<Post*> posts;
      for (int r = 0; r < rank.all->size_; ++r) posts.push_back(&rank.all->gather_of(r));
      return rank.all->swap(rank.all->gather_of(rank.number), posts, send, send_bytes,
                            [&](const std::vector<char>& message, int r) {
                              if (static_cast<std::int64_t>(message.size()) != receive_bytes[r]) return false;
                              std::memcpy(to, message.data(), message.size());
                              to += message.size();
                              return true;
                            });
    });
  }

  static std::int32_t exchange(void* user_data, std::int32_t peer, const void* send, std::int64_t send_bytes,
                               void* receive, std::int64_t receive_bytes) {
    Rank& rank = *static_cast<Rank*>(user_data);
    return rank.all->faulty(rank, receive, receive_bytes, [&] {
      return rank.all->swap(rank.all->pair(rank.number, peer), {&rank.all->pair(peer, rank.number)}, send,
                            send_bytes, [&](const std::vector<char>& message, int) {
                              if (static_cast<std::int64_t>(message.size()) != receive_bytes) return false;
                              std::memcpy(receive, message.data(), message.size());
                              return true;
                            });
    });
  }

 private:
  /// Messages that a rank shows to others: copies of its last two, since a rank that has all messages of a
  /// round may be one round ahead of the others, and no more.
  struct Post {
    std::vector<char> messages[2];
    long round = 0;
    int owner = 0;
  };
  static constexpr auto deadline = std::chrono::seconds(20);

  Post& gather_of(int r) { return gathers_[static_cast<std::size_t>(r)]; }
  Post& pair(int from, int to) { return pairs_[static_cast<std::size_t>(from * size_ + to)]; }

  template <class Swap>
  std::int32_t faulty(Rank& rank, void* receive, std::int64_t bytes, Swap swap) {
    const bool is_now = ++rank.calls == rank.faulty_call;
    if (is_now && rank.fault == Fault::fails) return 7;
    const std::int32_t answer = swap();
    if (is_now && rank.fault == Fault::garbage) std::memset(receive, 0xa5, static_cast<std::size_t>(bytes));
    return answer;
  }

  template <class Condition>
  bool wait(std::unique_lock<std::mutex>& lock, const std::vector<Post*>& posts, Condition condition) {
    const auto is_done = [&] {
      for (const Post* post : posts)
        if (!condition(*post)) return false;
      return true;
    };
    const auto is_lost = [&] {
      for (const Post* post : posts)
        if (!condition(*post) && gone_[static_cast<std::size_t>(post->owner)]) return true;
      return false;
    };
    changed_.wait_for(lock, deadline, [&] { return is_done() || is_lost(); });
    return is_done();
  }

  /// take(message) for each of the posts, once they are there.
  template <class Take>
  std::int32_t swap(Post& own, const std::vector<Post*>& posts, const void* send, std::int64_t bytes,
                    Take take) {
    std::unique_lock lock(mutex_);
    const long round = own.round + 1;
    const auto* from = static_cast<const char*>(send);
    own.messages[round % 2].assign(from, from + bytes);
    own.round = round;
    changed_.notify_all();
    if (!wait(lock, posts, [&](const Post& post) { return post.round >= round; })) return 1;
    for (const Post* post : posts)
      if (!take(post->messages[round % 2], post->owner)) return 2;
    return 0;
  }

  int size_;
  std::vector<Rank> ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Post> gathers_, pairs_;
  std::vector<char> gone_;
};

}  // namespace bdl::testing
