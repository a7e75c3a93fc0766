// Memory of a training step: what the optimizer states is an upper bound of what it allocates, and not much
// more; later steps allocate nothing.
#include "posterior/families.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/user_networks.hpp"
#include "support/verify_held.hpp"
#include "train/exact/exact_fit.hpp"
#include "train/fit.hpp"
#include "train/memory.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Case {
  const char* name;
  std::vector<Index> sizes;
  bdl_likelihood likelihood;
  Index rank, examples, samples;  // rank -1: full family, -2: dropout, -3: full within layers
  EstimateKind curvature;
  EigenMethod eigen_method;
  Rule rule = Rule::blr;  // others by Adam
};

const std::vector<Case>& cases() {
  using enum EstimateKind;
  using enum EigenMethod;
  static const std::vector<Case> all{
      {"classifier", {60, 50, 40, 10}, BDL_CATEGORICAL, 8, 50, 4, mc_ef, automatic},
      {"classifier, Gram matrix", {60, 50, 40, 10}, BDL_CATEGORICAL, 8, 20, 2, mc_ef, gram},
      {"classifier, Gauss-Newton", {60, 50, 10}, BDL_CATEGORICAL, 3, 20, 2, mc_ggn, automatic},
      {"classifier, range finder", {60, 50, 40, 10}, BDL_CATEGORICAL, 8, 50, 4, mc_ef, randomized},
      {"classifier whose eigenpairs come from the whole Gram matrix",
       {200, 100, 3},
       BDL_CATEGORICAL,
       3,
       64,
       2,
       mc_ggn,
       automatic},
      {"diagonal classifier", {60, 50, 40, 10}, BDL_CATEGORICAL, 0, 50, 4, mc_ef, automatic},
      {"logistic regression", {400, 1}, BDL_BERNOULLI, 5, 64, 12, mc_ef, automatic},
      {"small logistic regression", {60, 1}, BDL_BERNOULLI, 10, 128, 12, mc_ef, outer},
      {"exact logistic regression", {60, 1}, BDL_BERNOULLI, 5, 128, 1, exact_hess, automatic},
      {"exact diagonal regression", {400, 1}, BDL_POISSON, 0, 64, 1, exact_hess, automatic},
      {"exact full regression", {30, 1}, BDL_GAUSSIAN, -1, 50, 1, exact_hess, automatic},
      {"exact regression that samples for its scales",
       {60, 1},
       BDL_BERNOULLI,
       5,
       128,
       40,
       exact_hess,
       automatic},
      {"linearised classifier that samples for its scales",
       {60, 50, 40, 10},
       BDL_CATEGORICAL,
       8,
       50,
       8,
       lin_hess,
       automatic},
      {"regression", {13, 100, 1}, BDL_GAUSSIAN, 1, 10, 4, mc_ef, automatic},
      {"full regression", {13, 10, 1}, BDL_GAUSSIAN, -1, 50, 4, mc_ggn, automatic},
      {"layerwise full regression", {13, 10, 8, 1}, BDL_GAUSSIAN, -3, 50, 4, mc_ggn, automatic},
      {"layerwise full, many layers",
       {4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 1},
       BDL_GAUSSIAN,
       -3,
       50,
       2,
       mc_ggn,
       automatic},
      {"layerwise full regression, few rows", {20, 6, 1}, BDL_GAUSSIAN, -3, 2, 1, mc_ggn, automatic},
      {"classifier by backprop",
       {60, 50, 40, 10},
       BDL_CATEGORICAL,
       0,
       50,
       4,
       mc_reparam,
       automatic,
       Rule::bbb},
      {"logistic regression by backprop",
       {400, 1},
       BDL_BERNOULLI,
       0,
       64,
       12,
       mc_reparam,
       automatic,
       Rule::bbb},
      {"mode of a classifier", {60, 50, 40, 10}, BDL_CATEGORICAL, 8, 50, 4, lin_ef, automatic, Rule::map},
      {"mode with full covariance", {13, 30, 1}, BDL_GAUSSIAN, -1, 50, 4, lin_ef, automatic, Rule::map},
      {"classifier with dropout",
       {60, 50, 40, 10},
       BDL_CATEGORICAL,
       -2,
       50,
       4,
       mc_reparam,
       automatic,
       Rule::map}};
  return all;
}

struct Data {
  Dense x, y;
};

Data data_for(const Case& item, Random& random) {
  const Likelihood likelihood(item.likelihood, item.sizes.back());
  Data data{random.normal(item.sizes.front(), item.examples), Dense(likelihood.targets(), 0)};
  for (Index i = 0; i < item.examples; ++i) data.y = beside(data.y, random_targets(likelihood, random));
  return data;
}

template <class T>
std::unique_ptr<Optimizer<T>> optimizer_for(const Case& item, std::shared_ptr<Model<T>> model,
                                            std::shared_ptr<Posterior<T>> q, double learn_from) {
  auto optimizer = std::make_unique<Optimizer<T>>(
      std::move(model), std::move(q), find_method(item.rank == -2 ? "mc-dropout" : "slang"), 1000);
  Options options;
  options.samples = item.samples;
  options.curvature = item.curvature;
  options.eigen_method = item.eigen_method;
  options.rule = item.rule;
  options.learn_prior = item.rule != Rule::map;
  options.descent = item.rule == Rule::blr ? DescentOption::sgd : DescentOption::adam;
  options.learn_from = learn_from;
  options.guard = 1e-6;  // so that it acts
  if (item.rule == Rule::blr) options.learning_rate = 1;
  options.total_steps = 10;
  optimizer->set_options(options);
  return optimizer;
}

template <class T>
std::shared_ptr<Posterior<T>> posterior_for(const Case& item, Index dimension) {
  if (item.rank == -1) return std::make_shared<FullPosterior<T>>(dimension);
  if (item.rank == -3) {
    std::vector<Index> blocks;
    for (std::size_t l = 1; l < item.sizes.size(); ++l)
      blocks.push_back(item.sizes[l] * (item.sizes[l - 1] + 1));
    return create_posterior<T>({Family::layerwise_full, dimension, 0, blocks, {}});
  }
  if (item.rank == -2)
    return std::make_shared<DropoutPosterior<T>>(dropout_layout(item.sizes, true, 0.1, 0.5));
  return make_posterior<T>(dimension, item.rank);
}

/// Bytes held after three steps, beyond model and posterior, which are the caller's.
template <class T>
void workspace_is_what_the_optimizer_states(void**) {
  for (const Case& item : cases()) {
    Random random(51);
    const Data data = data_for(item, random);
    const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, item.sizes.back()));
    const auto q = posterior_for<T>(item, model->parameters());
    const auto before = counting::Held::now();
    const auto optimizer = optimizer_for<T>(item, model, q, 1);
    const Index stated = memory_estimate(*optimizer, item.examples);
    for (int step = 0; step < 3; ++step) step_on(*optimizer, data.x, data.y);
    check_held(item.name, counting::Held::now().since(before), stated);
    check_held(item.name, counting::Held::now().since(before), memory_estimate(*optimizer, item.examples));
  }
}

template <class T>
void later_steps_allocate_nothing(void**) {
  for (const Case& item : cases()) {
    Random random(52);
    const Data data = data_for(item, random);
    const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, item.sizes.back()));
    const auto optimizer = optimizer_for<T>(item, model, posterior_for<T>(item, model->parameters()), 0);
    for (int step = 1; step <= 10; ++step) {
      fill(optimizer->batch_x(item.examples), data.x);
      fill(optimizer->batch_y(item.examples), data.y);
      const std::size_t before = counting::calls;
      train_step(*optimizer, item.examples);
      if (step > 1 && counting::calls != before)
        fail_msg("%s: %zu allocations in step %d", item.name, counting::calls - before, step);
    }
    if (item.rule == Rule::blr && item.rank != -2 && optimizer->state.guarded_steps == 0)
      fail_msg("%s: the guard held nothing back", item.name);
  }
}

/// Scales that begin to be learned in the middle, and smaller minibatches, need no new memory.
template <class T>
void learning_and_smaller_minibatches_allocate_nothing(void**) {
  for (const auto curvature : {EstimateKind::mc_ef, EstimateKind::lin_hess, EstimateKind::lin_ef}) {
    const Case item = {"regression", {5, 20, 1}, BDL_GAUSSIAN, 2, 12, 3, curvature, EigenMethod::automatic};
    Random random(53);
    const Data data = data_for(item, random);
    const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, 1));
    const auto optimizer = optimizer_for<T>(item, model, posterior_for<T>(item, model->parameters()), 0.5);
    for (int step = 1; step <= 10; ++step) {
      const Index examples = step > 3 ? 12 - step % 2 : 12;
      fill(optimizer->batch_x(examples), columns_of(data.x, 0, examples));
      fill(optimizer->batch_y(examples), columns_of(data.y, 0, examples));
      const std::size_t before = counting::calls;
      train_step(*optimizer, examples);
      if (step > 1 && counting::calls != before)
        fail_msg("curvature %d: %zu allocations in step %d", static_cast<int>(item.curvature),
                 counting::calls - before, step);
    }
  }
}

/// After some steps with this prior, or none; later ones allocate nothing.
template <class T>
void check_memory_with(const Case& item, std::shared_ptr<const Posterior<T>> prior) {
  Random random(56);
  const Data data = data_for(item, random);
  const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, 1));
  const auto q = posterior_for<T>(item, model->parameters());
  const auto before = counting::Held::now();
  const auto optimizer = optimizer_for<T>(item, model, q, 0);
  if (prior) optimizer->set_prior(std::shared_ptr<const Posterior<T>>(prior->clone()));
  for (int step = 1; step <= 6; ++step) {
    fill(optimizer->batch_x(item.examples), data.x);
    fill(optimizer->batch_y(item.examples), data.y);
    const std::size_t calls = counting::calls;
    train_step(*optimizer, item.examples);
    if (step > 1 && counting::calls != calls)
      fail_msg("rank %d: %zu allocations in step %d", static_cast<int>(item.rank), counting::calls - calls,
               step);
  }
  check_held(item.name, counting::Held::now().since(before), memory_estimate(*optimizer, item.examples));
}

struct Variation {
  const char* name;
  void (*change)(Options&);
};

/// Minibatches of two sizes: what the larger one takes is enough.
template <class T>
void check_memory_of(const Variation& variation, Index rank) {
  const Case item = {variation.name,        {12, 9, 3}, BDL_CATEGORICAL, rank, 24, 3, EstimateKind::mc_ef,
                     EigenMethod::automatic};
  Random random(57);
  const Data data = data_for(item, random);
  const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, 3));
  const auto q = posterior_for<T>(item, model->parameters());
  const auto before = counting::Held::now();
  const auto optimizer = optimizer_for<T>(item, model, q, 0.5);
  Options options = optimizer->options();
  variation.change(options);
  optimizer->set_options(options);
  const Index stated = memory_estimate(*optimizer, item.examples);
  for (int step = 1; step <= 6; ++step) {
    const Index examples = step % 2 == 0 ? 20 : 24;
    fill(optimizer->batch_x(examples), columns_of(data.x, 0, examples));
    fill(optimizer->batch_y(examples), columns_of(data.y, 0, examples));
    const std::size_t calls = counting::calls;
    train_step(*optimizer, examples);
    if (step > 2 && counting::calls != calls)
      fail_msg("%s, rank %d: %zu allocations in step %d", item.name, static_cast<int>(rank),
               counting::calls - calls, step);
  }
  check_held(item.name, counting::Held::now().since(before), stated);
}

template <class T>
void options_change_what_is_stated(void**) {
  const Variation variations[] = {
      {"as it is", [](Options&) {}},
      {"moving average", [](Options& o) { o.low_rank_update = LowRankUpdate::moving_average; }},
      {"moving average by the range",
       [](Options& o) {
         o.low_rank_update = LowRankUpdate::moving_average;
         o.eigen_method = EigenMethod::randomized;
       }},
      {"outer products", [](Options& o) { o.eigen_method = EigenMethod::outer; }},
      {"unprojected mean", [](Options& o) { o.mean_update = MeanUpdateOption::unprojected; }},
      {"without a guard", [](Options& o) { o.guard = 0; }},
      {"without scales", [](Options& o) { o.learn_prior = o.learn_noise = 0; }},
      {"at the mean", [](Options& o) { o.curvature = EstimateKind::lin_ef; }},
      {"the mode by gradient descent",
       [](Options& o) {
         o.rule = Rule::map;
         o.learn_prior = 0;
         o.descent = DescentOption::sgd;
       }},
  };
  for (const Variation& variation : variations)
    for (const Index rank : {Index{-3}, Index{-1}, Index{0}, Index{5}}) check_memory_of<T>(variation, rank);
}

/// Rows that the caller writes, and a model of the caller's own, whose rows are written as well.
template <class T>
void written_rows_are_counted(void**) {
  for (const Index rank : {Index{-1}, Index{0}, Index{3}})
    for (const Index count : {1, 20, 100}) {
      const Case item = {"rows", {11, 1}, BDL_GAUSSIAN,        rank,
                         count,  1,       EstimateKind::mc_ef, EigenMethod::gram};
      const auto q = posterior_for<T>(item, 300);
      const Dense rows = Random(58).normal(300, count);
      const auto before = counting::Held::now();
      Optimizer<T> optimizer(nullptr, q, find_method("slang"), 1000);
      const Index stated = memory_estimate(optimizer, count);
      for (int step = 0; step < 3; ++step) {
        fill(rows_to_fill(optimizer, count), rows);
        step_on_rows(optimizer);
      }
      check_held(item.name, counting::Held::now().since(before), stated);
    }
}

template <class T>
void users_models_are_counted(void**) {
  for (const Index rank : {Index{-1}, Index{0}, Index{3}})
    for (const auto method : {EigenMethod::gram, EigenMethod::outer, EigenMethod::randomized})
      for (const EstimateKind curvature : {EstimateKind::mc_ggn, EstimateKind::lin_ef}) {
        const Case item = {
            "a model of the user's own", {5, 4, 2}, BDL_CATEGORICAL, rank, 9, 3, curvature, method};
        Random random(59);
        const Data data = data_for(item, random);
        NaiveNetwork network{item.sizes, BDL_TANH, true};
        const auto model = std::shared_ptr<Model<T>>(
            new UserModel<T>(user_network<T>(network, Likelihood(item.likelihood, 2))));
        const auto q = posterior_for<T>(item, model->parameters());
        const auto before = counting::Held::now();
        const auto optimizer = optimizer_for<T>(item, model, q, 0);
        const Index stated = memory_estimate(*optimizer, item.examples);
        for (int step = 0; step < 3; ++step) step_on(*optimizer, data.x, data.y);
        check_held(item.name, counting::Held::now().since(before), stated);
      }
}

/// Posteriors as priors: in the step's matrix, or by columns after the curvature's rows.
template <class T>
void posteriors_as_priors_are_counted(void**) {
  for (const Index rank : {Index{-3}, Index{-1}, Index{0}, Index{6}})
    for (const Index prior_rank : {0, 4})
      for (const auto method : {EigenMethod::automatic, EigenMethod::gram, EigenMethod::randomized}) {
        const Case item = {"with a prior",       {20, 10, 1}, BDL_GAUSSIAN, rank, 30, 2,
                           EstimateKind::mc_ggn, method};
        check_memory_with<T>(item, nullptr);
        check_memory_with<T>(item, make_posterior<T>(221, prior_rank));
      }
}

/// While the search goes on, beyond model, posterior and optimizer.
struct MostHeld {
  counting::Held before = counting::Held::now(), most{};
  static std::int32_t look(void* context) {
    MostHeld& held = *static_cast<MostHeld*>(context);
    const auto now = counting::Held::now().since(held.before);
    held.most.numbers = std::max(held.most.numbers, now.numbers);
    held.most.small_objects = std::max(held.most.small_objects, now.small_objects);
    return 0;
  }
};

template <class T>
void exact_methods_hold_what_they_state(void**) {
  for (const Index rank : {Index{-1}, Index{0}, Index{4}})
    for (const auto& [examples, shards] : {std::pair<Index, Index>{50, 0}, {600, 0}, {50, 2}, {600, 3}}) {
      // Few parameters: where all of a covariance is learned, natural steps hold more than the descent, which
      // need not follow.
      const Index inputs = rank < 0 ? 12 : 40, parameters = inputs + 1;
      const Case item = {
          "", {inputs, 1}, BDL_POISSON, rank, examples, 1, EstimateKind::exact_hess, EigenMethod::automatic};
      Random random(55);
      Data data = data_for(item, random);
      std::ranges::fill(data.y.values, 0);  // natural-gradient steps crawl, so that a descent follows
      const auto model = make_network<T>(item.sizes, Likelihood(item.likelihood, 1));
      const char* const method = rank < 0 ? "exact-full" : rank == 0 ? "exact-diagonal" : "exact-low-rank";
      Optimizer<T> optimizer(model, posterior_for<T>(item, model->parameters()), find_method(method),
                             examples);
      Options options = optimizer.options();
      options.shards = shards;
      options.prior_precision = 1e-4;
      optimizer.set_options(options);
      MostHeld held;
      fit(optimizer, bdl_strided(data.x.values.data(), BDL_F64, examples, inputs, inputs, 1),
          bdl_f64(data.y.values.data(), examples, 1), 50, Progress{MostHeld::look, &held});
      const Index variables = rank < 0 ? parameters * (parameters + 3) / 2 : parameters * (rank + 2),
                  by_lbfgs = 8 * variables * (5 + 2 * 20);  // from malloc
      held.most.numbers += static_cast<std::size_t>(by_lbfgs);
      check_held(method, held.most, memory_estimate(optimizer, examples));
    }
}

/// Images are augmented on their way into the minibatch.
template <class T>
void augmented_fits_allocate_nothing(void**) {
  const auto graph = std::make_shared<const Graph<T>>("input 2 4 5; dense 3; tanh; dense 1");
  const auto model = std::make_shared<Network<T>>(graph, Likelihood(BDL_GAUSSIAN, 1));
  Optimizer<T> optimizer(model, make_posterior<T>(model->parameters(), 2), find_method("slang"), 60);
  Options options = optimizer.options();
  options.augment_pad = 2;
  options.augment_flip = 1;
  options.minibatch = 20;
  options.progress_every = 1;
  options.refine = Refine::no;  // after the steps
  optimizer.set_options(options);
  std::vector<std::uint8_t> x(60 * 40);
  std::vector<double> y(60);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::uint8_t>(k * k % 7 % 3);
  // Something to learn: else training would begin anew, which needs memory.
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2.0 * x[40 * i] - x[40 * i + 7];
  counting::LaterCalls later;
  fit(optimizer, bdl_u8(x.data(), 60, 40), bdl_f64(y.data(), 60, 1), 4,
      Progress{counting::LaterCalls::look, &later});
  assert_int_equal(later.steps, 12);
  assert_int_equal(later.calls_since, 0);
}

template <class T>
void steps_on_rows_allocate_nothing(void**) {
  for (const Index rank : {0, 3}) {
    Optimizer<T> optimizer(nullptr, make_posterior<T>(500, rank), find_method("slang"), 1000);
    const Dense rows = Random(54).normal(500, 20);
    for (int step = 1; step <= 6; ++step) {
      fill(rows_to_fill(optimizer, 20), rows);
      const std::size_t before = counting::calls;
      step_on_rows(optimizer);
      assert_true(step <= 1 || counting::calls == before);
    }
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_memory() {
  const CMUnitTest tests[] = {
      BOTH(workspace_is_what_the_optimizer_states),
      BOTH(later_steps_allocate_nothing),
      BOTH(learning_and_smaller_minibatches_allocate_nothing),
      BOTH(options_change_what_is_stated),
      BOTH(written_rows_are_counted),
      BOTH(users_models_are_counted),
      BOTH(posteriors_as_priors_are_counted),
      BOTH(augmented_fits_allocate_nothing),
      BOTH(steps_on_rows_allocate_nothing),
      BOTH(exact_methods_hold_what_they_state),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
