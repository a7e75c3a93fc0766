// Memory of observations: none is allocated after the first ones, for any rule, estimate and family; and what
// the optimizer states is what it holds.
#include "support/streams.hpp"
#include "support/verify_held.hpp"
#include "train/memory.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void observe_columns(Optimizer<T>& optimizer, const Dense& x, const Dense& y) {
  fill(optimizer.batch_x(x.cols), x);
  fill(optimizer.batch_y(y.cols), y);
}

std::shared_ptr<Network<double>> network(const Likelihood& likelihood) {
  return make_network<double>({4, 6, likelihood.outputs()}, likelihood);
}

/// Drifting parameters, all scores, blocks of two sizes.
void later_observations_allocate_nothing(void**) {
  for (const Likelihood& likelihood : {gaussian(2, {3}), Likelihood(BDL_CATEGORICAL, 3),
                                       Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)})
    for (const FamilyKind& kind : family_kinds)
      for (const Rule rule : rules)
        for (const EstimateKind estimate : estimates)
          for (const Index probes : {0, 2}) {
            if (!exists(kind, estimate) || (probes > 0 && estimate != EstimateKind::mc_hess)) continue;
            Options options = stream_options(rule, estimate);
            options.process_noise = 1e-6;
            options.iterations = 3;
            options.learning_rate = 0.002;
            options.probes = probes;
            const auto model = network(likelihood);
            Optimizer<double> optimizer(model, random_prior<double>(kind, model->parameters(), 95, 1000),
                                        find_method("bong"), 1);
            optimizer.set_options(options);
            const StreamData data(likelihood, 4, 5, 96);
            const Dense x = transposed(data.x), y = transposed(data.y);
            std::vector<double> scores(5);
            for (int t = 0; t < 6; ++t) {
              const Index count = t % 2 == 0 ? 5 : 2;
              observe_columns(optimizer, columns_of(x, 0, count), columns_of(y, 0, count));
              const std::size_t before = counting::calls;
              if (t % 4 == 0) move_time(optimizer, 1);
              try {
                observe_block(optimizer, count,
                              std::span<double>(scores).first(static_cast<std::size_t>(count)));
              } catch (const Error& error) {  // rates of a Poisson likelihood may diverge
                assert_true(error.status() == Status::ERROR_DIVERGED && likelihood.kind() == BDL_POISSON);
                break;
              }
              if (t > 1 && counting::calls != before)
                fail_msg("%s, rule %d, estimate %d: %zu allocations in observation %d", kind.name,
                         static_cast<int>(rule), static_cast<int>(estimate), counting::calls - before, t);
            }
          }
}

/// A call allocates for its own results, not for each row.
void calls_allocate_once(void**) {
  for (const FamilyKind& kind : family_kinds) {
    const auto model = network(gaussian(2, {3}));
    Learner<double> learner(model, random_prior<double>(kind, model->parameters(), 97, 4),
                            stream_options(Rule::blr, EstimateKind::lin_hess));
    const StreamData data(gaussian(2, {3}), 4, 40, 98);
    Dense scores(40, 1);
    learner.observe(data.x, data.y);
    std::size_t last = 0;
    for (const Index count : {1, 2, 40}) {
      const std::size_t before = counting::calls;
      const auto of = [&](const Dense& a) {
        return bdl_strided(a.values.data(), BDL_F64, count, a.cols, 1, a.rows);
      };
      bdl::observe(learner.optimizer, of(data.x), of(data.y), bdl_f64_out(scores.values.data(), count, 1));
      const std::size_t made = counting::calls - before;
      if (count > 1) assert_int_equal(made, last);
      assert_true(made <= 4);
      last = made;
    }
  }
}

/// Bytes held after three observations, beyond model and posterior, which are the caller's. Process noise
/// makes full posteriors themselves grow: by what is stated before, and is theirs afterwards.
void workspace_is_what_the_optimizer_states(void**) {
  struct Size {
    std::vector<Index> sizes;
    bdl_likelihood likelihood;
    FamilyKind kind;
    Index block;
  };
  const std::vector<Size> cases{{{40, 50, 10}, BDL_CATEGORICAL, {"low rank", Family::low_rank, 10}, 1},
                                {{40, 50, 10}, BDL_CATEGORICAL, {"low rank", Family::low_rank, 10}, 8},
                                {{40, 50, 1}, BDL_GAUSSIAN, {"rank 1", Family::low_rank, 1}, 1},
                                {{40, 50, 10}, BDL_CATEGORICAL, diagonal_kind, 1},
                                {{40, 50, 10}, BDL_CATEGORICAL, diagonal_moment_kind, 4},
                                {{20, 15, 3}, BDL_CATEGORICAL, full_kind, 1},
                                {{20, 15, 3}, BDL_CATEGORICAL, full_kind, 3},
                                {{20, 15, 3}, BDL_CATEGORICAL, full_moment_kind, 1},
                                {{20, 15, 3}, BDL_CATEGORICAL, full_moment_kind, 3}};
  for (const Size& item : cases)
    for (const Rule rule : rules)
      for (const EstimateKind estimate :
           {EstimateKind::lin_hess, EstimateKind::mc_ef, EstimateKind::mc_hess}) {
        if (!exists(item.kind, estimate)) continue;
        const Likelihood likelihood(item.likelihood, item.sizes.back());
        const auto model = make_network<double>(item.sizes, likelihood);
        const auto q = item.kind.family == Family::low_rank
                           ? bdl::testing::make_posterior<double>(model->parameters(), item.kind.rank)
                           : random_prior<double>(item.kind, model->parameters(), 99, 4);
        const StreamData data(likelihood, item.sizes.front(), item.block, 100);
        const Dense x = transposed(data.x), y = transposed(data.y);
        std::vector<double> scores(static_cast<std::size_t>(item.block));
        const auto before = counting::Held::now();
        const auto optimizer = std::make_unique<Optimizer<double>>(model, q, find_method("bong"), 1);
        Options options = stream_options(rule, estimate);
        options.initial_precision = 4;
        options.process_noise = item.block > 1 ? 1e-6 : 0;
        options.iterations = item.block > 1 ? 3 : 1;
        optimizer->set_options(options);
        const Index stated = memory_estimate(*optimizer, item.block);
        for (int t = 0; t < 3; ++t) {
          observe_columns(*optimizer, x, y);
          observe_block(*optimizer, item.block, scores);
        }
        char name[200];
        std::snprintf(name, sizeof name, "%s, block %ld, rule %d, estimate %d", item.kind.name,
                      static_cast<long>(item.block), static_cast<int>(rule), static_cast<int>(estimate));
        check_held(name, counting::Held::now().since(before), stated);
      }
}

}  // namespace

int test_stream_memory() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(later_observations_allocate_nothing),
      cmocka_unit_test(calls_allocate_once),
      cmocka_unit_test(workspace_is_what_the_optimizer_states),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
