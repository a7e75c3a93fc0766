// Split MNIST (Zenke et al. 2017): five tasks of two digits each, one after the other, with one head or a
// head for each task (bdl_model_set_classes), with or without coresets (docs/how-to/task-after-task.md).
// split_mnist DATA_FOLDER [EPOCHS SEEDS] prints a line for each run, or with DATA_FOLDER "quick" runs on
// made-up images.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/class_scores.hpp"
#include "support/handles.hpp"
#include "support/table.hpp"

namespace {

using support::check;
using support::Images;

/// How what was learned becomes the next task's prior: not at all, as it is, or as online EWC's penalty.
enum class Memory { none, posterior, penalty };

struct Method {
  const char *label, *method, *options;
  int64_t rank;  ///< of the posterior; -1: Kronecker factors
  Memory memory;
  bool has_heads;
  int64_t coreset;  ///< examples of each task that are left for the end
  int64_t draws;    ///< of predictions; 0: at the mean
};
constexpr Method methods[] = {
    {"adam, one head", "map", "learning_rate=0.001", 0, Memory::none, false, 0, 0},
    {"vogn-vcl, one head", "vogn", "kl_weight=1", 0, Memory::posterior, false, 0, 20},
    {"vogn-vcl, one head, coresets of 200", "vogn", "kl_weight=1", 0, Memory::posterior, false, 200, 20},
    {"adam, heads", "map", "learning_rate=0.001", 0, Memory::none, true, 0, 0},
    {"online ewc, heads", "laplace", "learning_rate=0.001 evidence=none", 0, Memory::penalty, true, 0, 0},
    {"vogn-vcl, heads", "vogn", "kl_weight=1", 0, Memory::posterior, true, 0, 20},
    {"ivon-vcl, heads", "ivon", "kl_weight=1 initial_curvature=1", 0, Memory::posterior, true, 0, 20},
    {"slang-vcl L=4, heads", "slang", "samples=1", 4, Memory::posterior, true, 0, 20},
    {"laplace-vcl kronecker, heads", "laplace",
     "learning_rate=0.001 prior_precision=10 fisher=sampled evidence=none", -1, Memory::posterior, true, 0,
     0},
    {"vogn-vcl, heads, coresets of 200", "vogn", "kl_weight=1", 0, Memory::posterior, true, 200, 20},
};
constexpr int64_t tasks = 5;
constexpr double strength = 100;  ///< lambda of EWC

/// Images from number `first` on, at most `most`, of the task's two digits.
Images of_task(const Images& all, int64_t task, int64_t first, int64_t most) {
  Images out{all.channels, all.rows, all.columns, {}, {}};
  int64_t found = 0;
  for (int64_t i = 0; i < all.count() && out.count() < most; ++i) {
    if (all.labels[static_cast<std::size_t>(i)] / 2 != task || found++ < first) continue;
    out.labels.push_back(all.labels[static_cast<std::size_t>(i)]);
    const auto from = all.pixels.begin() + i * all.numbers();
    out.pixels.insert(out.pixels.end(), from, from + all.numbers());
  }
  return out;
}

void append(const Images& more, Images& to) {
  to.pixels.insert(to.pixels.end(), more.pixels.begin(), more.pixels.end());
  to.labels.insert(to.labels.end(), more.labels.begin(), more.labels.end());
}

class Learner {
 public:
  Learner(const Method& method, int64_t pixels, int64_t seed) : method_(method), seed_(seed) {
    const std::string text =
        "input " + std::to_string(pixels) + "\ndense 100\nrelu\ndense 100\nrelu\ndense 10";
    bdl_model* model = nullptr;
    check(bdl_model_create_network(BDL_F32, text.c_str(), BDL_CATEGORICAL, &model));
    model_.reset(model);
    const double full = 255;
    check(bdl_model_set_standardization(model, bdl_none(), bdl_f64(&full, 1, 1), bdl_none(), bdl_none()));
    posterior_ = create(method.rank);
  }

  void learn(const Images& task, int64_t number, int64_t epochs) {
    choose_head(number);
    const support::Posterior prior = next_prior();
    const bool goes_on = method_.memory != Memory::posterior || method_.rank < 0;  // at the last mode
    if (!goes_on) posterior_ = create(method_.rank);
    fit(posterior_.get(), prior.get(), task, epochs);
    if (method_.memory == Memory::penalty) remember(prior.get());
  }

  /// With a coreset, of what has learned it from the posterior as prior.
  double accuracy(const Images& test, int64_t number, const Images& coreset, int64_t epochs) {
    choose_head(number);
    if (coreset.count() == 0)
      return 100 - support::score_classes(model_.get(), posterior_.get(), test, method_.draws, 15).error;
    bdl_posterior* copy = nullptr;
    check(bdl_posterior_copy(posterior_.get(), &copy));
    const support::Posterior last(copy);
    fit(copy, posterior_.get(), coreset, epochs);
    return 100 - support::score_classes(model_.get(), copy, test, method_.draws, 15).error;
  }

 private:
  support::Posterior create(int64_t rank) const {
    bdl_posterior* q = nullptr;
    check(rank < 0 ? bdl_posterior_create_kronecker(model_.get(), &q)
                   : bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model_.get()), rank, &q));
    return support::Posterior(q);
  }

  void choose_head(int64_t task) const {
    const double classes[] = {2.0 * static_cast<double>(task), 2.0 * static_cast<double>(task) + 1};
    if (method_.has_heads) check(bdl_model_set_classes(model_.get(), bdl_f64(classes, 1, 2)));
  }

  /// Null: that of the options.
  support::Posterior next_prior() const {
    bdl_posterior* q = nullptr;
    const bool is_first = bdl_posterior_is_blank(posterior_.get());
    if (method_.memory == Memory::none || is_first) return nullptr;
    if (method_.memory == Memory::posterior) {
      check(bdl_posterior_copy(posterior_.get(), &q));
      return support::Posterior(q);
    }
    support::Posterior prior = create(0);
    const auto d = static_cast<int64_t>(mode_.size());
    check(bdl_posterior_set_low_rank(prior.get(), bdl_f32(mode_.data(), 1, d), bdl_none(),
                                     bdl_f32(precision_.data(), 1, d)));
    return prior;
  }

  void fit(bdl_posterior* q, const bdl_posterior* prior, const Images& images, int64_t epochs) const {
    bdl_optimizer* optimizer = nullptr;
    check(bdl_optimizer_create(model_.get(), q, method_.method, images.count(), &optimizer));
    const support::Optimizer owned(optimizer);
    check(bdl_optimizer_set_text(optimizer, method_.options));
    check(bdl_optimizer_set_text(optimizer, "threads=1 learn_prior=0"));
    check(bdl_optimizer_set_int(optimizer, "minibatch", std::min<int64_t>(256, images.count())));
    check(bdl_optimizer_set_int(optimizer, "seed", seed_));
    if (prior) check(bdl_optimizer_set_prior_posterior(optimizer, prior));
    check(bdl_optimizer_fit(optimizer, images.x(0, images.count()), images.y(0, images.count()), epochs,
                            nullptr, nullptr));
  }

  /// Laplace's precision is N F plus the prior's.
  void remember(const bdl_posterior* prior) {
    const int64_t d = bdl_model_parameters(model_.get());
    std::vector<float> variance(static_cast<std::size_t>(d));
    mode_.resize(variance.size());
    check(bdl_posterior_mean(posterior_.get(), bdl_f32_out(mode_.data(), 1, d)));
    check(bdl_posterior_marginal_variance(posterior_.get(), bdl_f32_out(variance.data(), 1, d)));
    if (!prior) precision_.assign(variance.size(), 1);
    for (std::size_t i = 0; i < variance.size(); ++i)
      precision_[i] += static_cast<float>(strength) * std::max(0.0F, 1 / variance[i] - precision_[i]);
  }

  const Method& method_;
  int64_t seed_;
  support::Model model_;
  support::Posterior posterior_;
  std::vector<float> mode_, precision_;
};

/// Trains on the five tasks and reports the accuracies after the last.
void run(const Method& method, const support::Split& data, int64_t epochs, int64_t seed) {
  Learner learner(method, data.train.numbers(), seed);
  std::vector<Images> cores;
  for (int64_t t = 0; t < tasks; ++t) {
    const int64_t left_out = std::min(method.coreset, data.train.count() / (4 * tasks));
    learner.learn(of_task(data.train, t, left_out, data.train.count()), t, epochs);
    cores.push_back(of_task(data.train, t, 0, left_out));
  }
  Images whole = cores[0];
  for (std::size_t t = 1; t < cores.size(); ++t) append(cores[t], whole);
  double sum = 0, first = 0;
  for (int64_t t = 0; t < tasks; ++t) {
    const Images& core = method.has_heads ? cores[static_cast<std::size_t>(t)] : whole;
    const double part = learner.accuracy(of_task(data.test, t, 0, data.test.count()), t, core, epochs);
    sum += part / static_cast<double>(tasks);
    if (t == 0) first = part;
  }
  std::printf("%s;%lld;%.2f;%.2f\n", method.label, static_cast<long long>(seed), sum, first);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) support::stop("usage: split_mnist DATA_FOLDER|quick [EPOCHS SEEDS]");
  const bool is_quick = !std::strcmp(argv[1], "quick");
  const support::Split data =
      is_quick ? support::stand_in_split("mnist", 400, 100) : support::read_split("mnist", argv[1]);
  const int64_t epochs = argc == 4  ? std::atoll(argv[2])
                         : is_quick ? 1
                                    : 10,
                seeds = argc == 4 ? std::atoll(argv[3]) : 1;
  std::printf("method;seed;mean accuracy;accuracy of the first task\n");
  for (int64_t seed = 1; seed <= seeds; ++seed)
    for (const Method& method : methods) run(method, data, epochs, seed);
  return 0;
}
