#include <algorithm>
#include <numeric>
#include <random>

#include "experiments.hpp"
#include "support/class_scores.hpp"
#include "support/dataset.h"
#include "support/handles.hpp"
#include "support/table.hpp"

namespace vogn {
namespace {

using support::check;
using support::Images;

/// How what was learned becomes the next task's prior.
enum class Memory { none, posterior, ewc, online_ewc };
enum class Family { low_rank, low_rank_moment, kronecker, layerwise_full };

struct Method {
  const char *label, *method;
  Family family;
  int64_t rank;
  Memory memory;
  bool goes_on;  ///< at the last mean, with deviations of `deviation` at most; else each task begins anew
  const char *hidden, *options;
  double strength = 1;  ///< lambda: of the Fisher information in EWC's prior
  int64_t draws = 30;   ///< of predictions; 0: at the mean
};

constexpr double deviation = 0.05;
constexpr const char *wide = "dense 100\nrelu\ndense 100\nrelu\n", *narrow = "dense 20\nrelu\n";

// clang-format off
constexpr Method methods[] = {
    {"adam", "map", Family::low_rank, 0, Memory::none, true, wide, "learning_rate=0.001 prior_precision=1", 1, 0},
    {"laplace-vcl kronecker", "laplace", Family::kronecker, 0, Memory::posterior, true, wide, "learning_rate=0.001 prior_precision=10 fisher=sampled evidence=none", 1, 0},
    {"noisy-kfac-vcl kronecker", "noisy-kfac", Family::kronecker, 0, Memory::posterior, true, wide, "kl_weight=1 prior_precision=10 learning_rate=0.03 kl_clip=0.01 fisher=sampled samples=1 factor_interval=5 eigen_interval=100"},
    {"mf-vi-vcl", "mf-vi", Family::low_rank_moment, 0, Memory::posterior, true, wide, "learning_rate=0.005 prior_precision=100 initial_precision=400"},
    {"vogn-vcl", "vogn", Family::low_rank, 0, Memory::posterior, false, wide, "kl_weight=1 learning_rate=0.005 prior_precision=100"},
    {"vogn-vcl prior 1", "vogn", Family::low_rank, 0, Memory::posterior, false, wide, "kl_weight=1 learning_rate=0.005"},
    {"ivon-vcl", "ivon", Family::low_rank, 0, Memory::posterior, false, wide, "kl_weight=1 initial_curvature=1 prior_precision=100"},
    {"slang-vcl L=4", "slang", Family::low_rank, 4, Memory::posterior, false, wide, "samples=1 prior_precision=100"},
    {"ewc", "laplace", Family::low_rank, 0, Memory::ewc, true, wide, "learning_rate=0.001 evidence=none", 100, 0},
    {"online-ewc", "laplace", Family::low_rank, 0, Memory::online_ewc, true, wide, "learning_rate=0.001 evidence=none", 100, 0},
    {"small adam", "map", Family::low_rank, 0, Memory::none, true, narrow, "learning_rate=0.001 prior_precision=1", 1, 0},
    {"small vogn-vcl", "vogn", Family::low_rank, 0, Memory::posterior, false, narrow, "kl_weight=1 learning_rate=0.005"},
    {"small noisy-kfac-vcl kronecker", "noisy-kfac", Family::kronecker, 0, Memory::posterior, true, narrow, "kl_weight=1 prior_precision=1 learning_rate=0.03 kl_clip=0.01 fisher=sampled samples=1 factor_interval=5 eigen_interval=100"},
    {"small block-vcl", "slang", Family::layerwise_full, 0, Memory::posterior, false, narrow, "samples=1"},
};
// clang-format on

/// "small": images of 7 x 7 pixels, the means of 4 x 4, for which a layer's whole covariance is cheap.
bool is_small(const Method& method) {
  return std::string_view(method.label).starts_with("small");
}
Images shrunk(const Images& images) {
  Images out{1, images.rows / 4, images.columns / 4, {}, images.labels};
  out.pixels.reserve(static_cast<std::size_t>(images.count() * out.numbers()));
  for (int64_t i = 0; i < images.count(); ++i)
    for (int64_t r = 0; r < out.rows; ++r)
      for (int64_t c = 0; c < out.columns; ++c) {
        int sum = 0;
        for (int64_t k = 0; k < 16; ++k)
          sum += images.pixels[static_cast<std::size_t>(i * images.numbers() +
                                                        (4 * r + k / 4) * images.columns + 4 * c + k % 4)];
        out.pixels.push_back(static_cast<unsigned char>(sum / 16));
      }
  return out;
}

/// The first task's pixels stay where they are.
Images permuted(const Images& images, int64_t task) {
  Images out = images;
  if (task == 0) return out;
  std::vector<std::size_t> order(static_cast<std::size_t>(images.numbers()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(static_cast<std::uint64_t>(1000 + task));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  for (std::size_t first = 0; first < out.pixels.size(); first += order.size())
    for (std::size_t k = 0; k < order.size(); ++k) out.pixels[first + k] = images.pixels[first + order[k]];
  return out;
}

/// The knowledge after some tasks: a Gaussian, which is the next prior, or its parts for EWC.
struct Belief {
  std::vector<float> mean, precision;
  bool is_empty() const { return mean.empty(); }
};

class Learner {
 public:
  Learner(const Method& method, const Images& images, std::string options, int64_t seed)
      : method_(method), options_(std::move(options)), seed_(seed) {
    const std::string text = "input " + std::to_string(images.numbers()) + "\n" + method.hidden + "dense 10";
    bdl_model* model = nullptr;
    check(bdl_model_create_network(BDL_F32, text.c_str(), BDL_CATEGORICAL, &model));
    model_.reset(model);
    const double zero = 0, full = 255;
    check(bdl_model_set_standardization(model, bdl_f64(&zero, 1, 1), bdl_f64(&full, 1, 1), bdl_none(),
                                        bdl_none()));
    posterior_ = create();
  }

  void learn(const Images& task, int64_t epochs) {
    const support::Posterior prior = next_prior();
    if (!method_.goes_on) posterior_ = create();
    if (method_.family == Family::low_rank_moment && method_.goes_on && prior) start_at(*prior);
    bdl_optimizer* optimizer = nullptr;
    check(bdl_optimizer_create(model_.get(), posterior_.get(), method_.method, task.count(), &optimizer));
    const support::Optimizer owned(optimizer);
    check(bdl_optimizer_set_text(optimizer, method_.options));
    check(bdl_optimizer_set_text(optimizer, options_.c_str()));
    check(bdl_optimizer_set_int(optimizer, "minibatch", std::min<int64_t>(256, task.count())));
    check(bdl_optimizer_set_int(optimizer, "seed", seed_));
    check(bdl_optimizer_set_int(optimizer, "threads", 1));
    check(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
    if (prior) check(bdl_optimizer_set_prior_posterior(optimizer, prior.get()));
    check(bdl_optimizer_fit(optimizer, task.x(0, task.count()), task.y(0, task.count()), epochs, nullptr,
                            nullptr));
    if (method_.memory == Memory::ewc || method_.memory == Memory::online_ewc) remember(prior.get());
  }

  double accuracy(const Images& test) const {
    return 100 - support::score_classes(model_.get(), posterior_.get(), test, method_.draws, 15).error;
  }

 private:
  support::Posterior create() const {
    bdl_posterior* q = nullptr;
    const int64_t d = bdl_model_parameters(model_.get());
    switch (method_.family) {
      case Family::low_rank:
        check(bdl_posterior_create_low_rank(BDL_F32, d, method_.rank, &q));
        break;
      case Family::low_rank_moment:
        check(bdl_posterior_create_low_rank_moment(BDL_F32, d, method_.rank, &q));
        break;
      case Family::kronecker:
        check(bdl_posterior_create_kronecker(model_.get(), &q));
        break;
      case Family::layerwise_full:
        check(bdl_posterior_create_layerwise_full(model_.get(), &q));
        break;
    }
    return support::Posterior(q);
  }

  /// Deviations that have grown to the prior's, where a task said nothing, would drown the next one in noise.
  void start_at(const bdl_posterior& last) {
    const int64_t d = bdl_model_parameters(model_.get());
    std::vector<float> mean(static_cast<std::size_t>(d)), variance(mean.size());
    check(bdl_posterior_mean(&last, bdl_f32_out(mean.data(), 1, d)));
    check(bdl_posterior_marginal_variance(&last, bdl_f32_out(variance.data(), 1, d)));
    for (float& value : variance) value = std::min(value, static_cast<float>(deviation * deviation));
    check(bdl_posterior_set_low_rank_moment(posterior_.get(), bdl_f32(mean.data(), 1, d), bdl_none(),
                                            bdl_f32(variance.data(), 1, d)));
  }

  /// Null: the prior of the options.
  support::Posterior next_prior() const {
    bdl_posterior* q = nullptr;
    if (method_.memory == Memory::posterior) {
      if (bdl_posterior_is_blank(posterior_.get())) return nullptr;
      check(bdl_posterior_copy(posterior_.get(), &q));
      return support::Posterior(q);
    }
    if (known_.is_empty()) return nullptr;
    check(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model_.get()), 0, &q));
    support::Posterior prior(q);
    const auto d = static_cast<int64_t>(known_.mean.size());
    check(bdl_posterior_set_low_rank(q, bdl_f32(known_.mean.data(), 1, d), bdl_none(),
                                     bdl_f32(known_.precision.data(), 1, d)));
    return prior;
  }

  /// Laplace's precision is N F plus the prior's. EWC weighs the sum of all F by lambda, around the mean of
  /// their modes; online EWC around the last one.
  void remember(const bdl_posterior* prior) {
    const int64_t d = bdl_model_parameters(model_.get());
    const auto size = static_cast<std::size_t>(d);
    std::vector<float> mean(size), variance(size);
    check(bdl_posterior_mean(posterior_.get(), bdl_f32_out(mean.data(), 1, d)));
    check(bdl_posterior_marginal_variance(posterior_.get(), bdl_f32_out(variance.data(), 1, d)));
    const auto lambda = static_cast<float>(method_.strength);
    const bool is_first = known_.is_empty();
    if (is_first) known_ = {std::vector<float>(size, 0), std::vector<float>(size, 1)};
    for (std::size_t i = 0; i < size; ++i) {
      const float before = prior ? known_.precision[i] : 1, fisher = std::max(0.0F, 1 / variance[i] - before),
                  added = lambda * fisher, total = known_.precision[i] + added;
      known_.mean[i] = method_.memory == Memory::online_ewc
                           ? mean[i]
                           : (known_.precision[i] * known_.mean[i] + added * mean[i]) / total;
      known_.precision[i] = total;
    }
  }

  const Method& method_;
  std::string options_;
  int64_t seed_;
  support::Model model_;
  support::Posterior posterior_;
  Belief known_;
};

}  // namespace

void learn_continually(const Settings& settings) {
  const support::Split data = settings.quick ? support::stand_in_split("mnist", 100, 50)
                                             : support::read_split("mnist", settings.data);
  const support::Split small{shrunk(data.train), shrunk(data.test)};
  const int64_t tasks = settings.quick ? 2 : 10, epochs = settings.epochs > 0 ? settings.epochs : 10;
  support::Table table(
      settings.results + "/continual.csv",
      {"method", "seed", "epochs", "tasks", "accuracy", "last_task", "first_task", "seconds"}, 4);
  for (int64_t seed = 1; seed <= settings.seeds; ++seed)
    for (const Method& method : methods) {
      const auto key = [&](int64_t task) {
        return support::Row{method.label, std::to_string(seed), std::to_string(epochs), std::to_string(task)};
      };
      if ((!settings.only.empty() && settings.only != method.label) || table.done(key(tasks))) continue;
      const support::Split& used = is_small(method) ? small : data;
      Learner learner(method, used.train, settings.options, seed);
      std::vector<support::Row> rows;
      for (int64_t task = 0; task < tasks; ++task) {
        const double start = cpu_seconds();
        learner.learn(permuted(used.train, task), epochs);
        const double seconds = cpu_seconds() - start;
        double sum = 0, first = 0, last = 0;
        for (int64_t t = 0; t <= task; ++t) {
          last = learner.accuracy(permuted(used.test, t));
          if (t == 0) first = last;
          sum += last;
        }
        rows.push_back(key(task + 1));
        for (const double value : {sum / static_cast<double>(task + 1), last, first, seconds})
          rows.back().push_back(support::number(value, 4));
        std::printf("%-20s seed %lld: %2lld tasks, mean accuracy %.2f %%, last %.2f, first %.2f, %.0f s\n",
                    method.label, static_cast<long long>(seed), static_cast<long long>(task + 1),
                    sum / static_cast<double>(task + 1), last, first, seconds);
        std::fflush(stdout);
      }
      table.add(rows);
    }
}

}  // namespace vogn
