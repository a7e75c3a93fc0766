// Rows with weights and offsets on ranks: results are identical for any number of them.
#include "rank_runs.hpp"

namespace {

/// The inputs and one target of RankData, with an offset behind the inputs and a weight behind the target.
struct WeightedData : RankData {
  std::vector<double> wide_x, wide_y;
  WeightedData() {
    for (int64_t i = 0; i < rows; ++i) {
      wide_x.insert(wide_x.end(), x.begin() + i * inputs, x.begin() + (i + 1) * inputs);
      wide_x.push_back(0.1 * static_cast<double>(i % 7));
      wide_y.push_back(std::floor(2 + 2 * one_target[static_cast<std::size_t>(i)]));
      wide_y.push_back(0.5 * static_cast<double>(i % 5));
    }
  }
  bdl_matrix x_matrix() const { return bdl_f64(wide_x.data(), rows, inputs + 1); }
  bdl_matrix y_matrix() const { return bdl_f64(wide_y.data(), rows, 2); }
};

const WeightedData data;

struct Case {
  const char* method;
  bdl_likelihood likelihood;
  bool hidden;
};

Learner learner_of(const Case& c) {
  Model model = c.hidden ? make_mlp(BDL_F64, {RankData::inputs, 4, 1}, c.likelihood)
                         : make_mlp(BDL_F64, {RankData::inputs, 1}, c.likelihood);
  bdl_model_set_row_weights(model.get(), 1);
  bdl_model_set_offsets(model.get(), 1);
  const std::string method = c.method;
  bdl_posterior* posterior = nullptr;
  if (method.starts_with("elrg"))
    bdl_posterior_create_layerwise_low_rank_moment(model.get(), 2, &posterior);
  else if (method == "kfac")
    bdl_posterior_create_kronecker(model.get(), &posterior);
  else if (method == "exact-full")
    bdl_posterior_create_full(BDL_F64, bdl_model_parameters(model.get()), &posterior);
  else
    bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model.get()), method == "vogn" ? 0 : 2,
                                  &posterior);
  Posterior q(posterior);
  Optimizer optimizer = make_optimizer(model, q, RankData::rows, c.method);
  (void)bdl_optimizer_set_text(optimizer.get(), "shards=8");
  (void)bdl_optimizer_set_text(optimizer.get(), "minibatch=24");
  return {std::move(model), std::move(q), std::move(optimizer)};
}

bdl_status fit(Learner& l) {
  return bdl_optimizer_fit(l.optimizer.get(), data.x_matrix(), data.y_matrix(), 4, nullptr, nullptr);
}

void bits_do_not_depend_on_the_number_of_ranks(void**) {
  for (const Case& c : {Case{"slang", BDL_GAUSSIAN, true},
                        {"slang-ggn", BDL_POISSON, false},  // rows of one example are merged
                        {"slang-ggn", BDL_POISSON, true},
                        {"vogn", BDL_STUDENT_T, true},
                        {"laplace", BDL_GAUSSIAN, true},
                        {"kfac", BDL_GAUSSIAN, true},
                        {"elrg", BDL_GAUSSIAN, true},
                        {"slang-exact-hess", BDL_POISSON, false},
                        {"exact-full", BDL_POISSON, false},
                        {"exact-full", BDL_GAUSSIAN, false}}) {
    Learner alone = learner_of(c);
    OK(fit(alone));
    const std::string expected = bytes_of(alone);
    for (const int ranks : {2, 3}) {
      const auto results = on_ranks(
          ranks, [&](int) { return learner_of(c); }, [](Learner& l, int) { return fit(l); });
      assert_all(results, BDL_OK);
      assert_same_bytes(results, expected, c.method);
    }
  }
}

}  // namespace

int test_rank_weights_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(bits_do_not_depend_on_the_number_of_ranks)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
