// Steps of ranks that train together, on a virtual clock: each rank is a thread with a clock of its own,
// which counts the processor time that it has used; at each message the clocks of those that swap it become
// the latest one's, plus what the network costs. So a step of 16 ranks can be timed on a machine with two
// cores, busy ones too.
//
// usage: ranks METHOD[:RANK][,OPTION=VALUE...] NETWORK MINIBATCH STEPS ALPHA BANDWIDTH RANKS ...
//   e.g. ranks vogn 784,400,400,10 200 20 2e-6 11e9 1 2 4 8
//        ranks slang:8,eigen_method=gram 784,400,400,10 3200 5 2e-6 11e9 1 2 4
// NETWORK: sizes of layers, or a name that bdl_network_description() knows, with its usual images.
#include <bdl/bdl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/rank_threads.hpp"

namespace {

using bdl::testing::RankThreads;

struct Wires {
  double alpha, bandwidth;
};

double processor_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A rank's way of moving bytes: that of RankThreads, and time goes by.
struct Clock {
  RankThreads::Rank* rank;
  Wires wires;
  double now = 0, since = 0;  // virtual; processor time when it was brought up to date

  void work() {
    const double time = processor_time();
    now += time - since;
    since = time;
  }
  /// `latest` of those that swap a message, in so many rounds, of which this rank receives `bytes`.
  void message(double latest, double rounds, double bytes) {
    now = latest + rounds * wires.alpha + bytes / wires.bandwidth;
    since = processor_time();
  }

  static int32_t all_gather(void* user_data, const void* send, int64_t send_bytes, void* receive,
                            const int64_t* receive_bytes) {
    auto& clock = *static_cast<Clock*>(user_data);
    clock.work();
    const auto size = static_cast<std::size_t>(clock.rank->all->size());
    std::vector<double> clocks(size);
    const std::vector<int64_t> eight(size, 8);
    RankThreads::all_gather(clock.rank, &clock.now, 8, clocks.data(), eight.data());
    const int32_t answer = RankThreads::all_gather(clock.rank, send, send_bytes, receive, receive_bytes);
    double bytes = -static_cast<double>(send_bytes);
    for (std::size_t r = 0; r < size; ++r) bytes += static_cast<double>(receive_bytes[r]);
    clock.message(*std::ranges::max_element(clocks), std::ceil(std::log2(static_cast<double>(size))), bytes);
    return answer;
  }
  static int32_t exchange(void* user_data, int32_t peer, const void* send, int64_t send_bytes, void* receive,
                          int64_t receive_bytes) {
    auto& clock = *static_cast<Clock*>(user_data);
    clock.work();
    double other = 0;
    RankThreads::exchange(clock.rank, peer, &clock.now, 8, &other, 8);
    const int32_t answer = RankThreads::exchange(clock.rank, peer, send, send_bytes, receive, receive_bytes);
    clock.message(std::max(clock.now, other), 1, static_cast<double>(receive_bytes));
    return answer;
  }
};

void check(bdl_status status) {
  if (status == BDL_OK) return;
  std::fprintf(stderr, "%s\n", bdl_last_error());
  std::exit(1);
}

struct Network {
  std::string description;
  int64_t inputs = 0, outputs = 0;
};

Network named(const std::string& wanted) {
  for (int64_t i = 0; i < bdl_network_count(); ++i) {
    const char *name = nullptr, *text = nullptr;
    int64_t channels = 0, rows = 0, columns = 0, outputs = 0;
    check(bdl_network_describe(i, &name, &channels, &rows, &columns, &outputs, nullptr, nullptr));
    if (wanted != name) continue;
    check(bdl_network_description(name, channels, rows, columns, outputs, &text));
    return {text, channels * rows * columns, outputs};
  }
  std::fprintf(stderr, "there is no network %s\n", wanted.c_str());
  std::exit(2);
}

/// Layers of these sizes, separated by commas, with rectifiers between them.
Network perceptron(const std::string& sizes) {
  Network network;
  for (std::size_t at = 0; at < sizes.size();) {
    const std::size_t comma = std::min(sizes.find(',', at), sizes.size());
    const std::string size = sizes.substr(at, comma - at);
    network.description += at == 0 ? "input " : network.outputs == 0 ? "\ndense " : "\nrelu\ndense ";
    network.description += size;
    (at == 0 ? network.inputs : network.outputs) = std::atoll(size.c_str());
    at = comma + 1;
  }
  network.description += "\n";
  return network;
}

struct Problem {
  std::string method, options;
  int64_t rank = 0;  // of the posterior
  Network network;
  int64_t minibatch, steps;
  std::vector<float> x, y;
};

/// Virtual seconds of a step, by the median.
double train(const Problem& p, int64_t shards, bdl_communicator* ranks, Clock& clock) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  check(bdl_model_create_network(BDL_F32, p.network.description.c_str(), BDL_CATEGORICAL, &model));
  check(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), p.rank, &q));
  check(bdl_optimizer_create(model, q, p.method.c_str(), 60000, &optimizer));
  check(bdl_optimizer_set_text(
      optimizer, ("threads=1 samples=4 shards=" + std::to_string(shards) + " " + p.options).c_str()));
  check(bdl_optimizer_set_communicator(optimizer, ranks));
  std::vector<double> seconds;
  for (int64_t step = 0; step < p.steps; ++step) {
    clock.work();
    const double began = clock.now;
    check(bdl_optimizer_step(optimizer, bdl_f32(p.x.data(), p.minibatch, p.network.inputs),
                             bdl_f32(p.y.data(), p.minibatch, 1)));
    clock.work();
    seconds.push_back(clock.now - began);
  }
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

struct Measured {
  double seconds = 0, bytes = 0;
};

Measured measure(const Problem& problem, int count, int64_t shards, const Wires& wires) {
  RankThreads threads(count);
  std::vector<Measured> all(static_cast<std::size_t>(count));
  threads.run([&](RankThreads::Rank& rank) {
    Clock clock{&rank, wires, 0, processor_time()};
    bdl_communicator* ranks = nullptr;
    check(bdl_communicator_create(rank.number, count, Clock::all_gather, Clock::exchange, &clock, nullptr,
                                  &ranks));
    Measured& own = all[static_cast<std::size_t>(rank.number)];
    own.seconds = train(problem, shards, ranks, clock);
    int64_t received = 0;
    check(bdl_communicator_statistics(ranks, nullptr, nullptr, &received, nullptr));
    own.bytes = static_cast<double>(received) / static_cast<double>(problem.steps);
    bdl_communicator_free(ranks);
  });
  return *std::ranges::max_element(all, {}, &Measured::seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(
        stderr,
        "usage: ranks METHOD[:RANK][,OPTION=VALUE...] NETWORK MINIBATCH STEPS ALPHA BANDWIDTH RANKS ...\n");
    return 2;
  }
  Problem problem{argv[1], {}, 0, {}, std::atoll(argv[3]), std::atoll(argv[4]), {}, {}};
  if (const std::size_t comma = problem.method.find(','); comma != std::string::npos) {
    problem.options = problem.method.substr(comma + 1);
    std::ranges::replace(problem.options, ',', ' ');
    problem.method.resize(comma);
  }
  if (const std::size_t colon = problem.method.find(':'); colon != std::string::npos) {
    problem.rank = std::atoll(problem.method.c_str() + colon + 1);
    problem.method.resize(colon);
  }
  const std::string network = argv[2];
  problem.network = network.find(',') == std::string::npos ? named(network) : perceptron(network);
  for (int64_t i = 0; i < problem.minibatch * problem.network.inputs; ++i)
    problem.x.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i))));
  for (int64_t i = 0; i < problem.minibatch; ++i)
    problem.y.push_back(static_cast<float>(i % problem.network.outputs));
  const Wires wires{std::atof(argv[5]), std::atof(argv[6])};
  RankThreads::Rank nobody{nullptr, 0};
  Clock clock{&nobody, wires, 0, processor_time()};
  const double alone = train(problem, 1, nullptr, clock);
  std::printf("%-22s %8s %12s %9s\n", "ranks x shards", "ms", "MB received", "speed-up");
  std::printf("%-22s %8.2f %12.2f %9.2f\n", "alone", 1e3 * alone, 0.0, 1.0);
  for (int i = 7; i < argc; ++i) {
    const int ranks = std::atoi(argv[i]);
    const Measured m = measure(problem, ranks, ranks, wires);
    std::printf("%-22s %8.2f %12.2f %9.2f\n", (std::to_string(ranks) + " x 1").c_str(), 1e3 * m.seconds,
                m.bytes / 1e6, alone / m.seconds);
  }
  return 0;
}
