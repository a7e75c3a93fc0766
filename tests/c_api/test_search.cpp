// Search of hyper-parameters: scores are those of cross-validation by hand, failing trials are kept apart,
// and a search that was stopped goes on as if it had not been.
#include "search_runs.hpp"

namespace {

/// As the model holds them.
dataset data_as(bdl_dtype dtype, bdl_likelihood likelihood) {
  dataset data = data_for(likelihood);
  if (dtype == BDL_F64) return data;
  for (double& value : data.x) value = static_cast<float>(value);
  for (double& value : data.y) value = static_cast<float>(value);
  return data;
}

/// Does a trial of the search by hand, with other public functions.
TrialRecord by_hand(bdl_dtype dtype, bdl_likelihood likelihood, const Search& search, int64_t trial) {
  const dataset data = data_as(dtype, likelihood);
  Vector fold(ROWS), scores;
  OK(bdl_search_folds(search.get(), bdl_f64_out(fold.data(), ROWS, 1)));
  for (int k = 0; k < folds; ++k) {
    Vector x, y, x_test, y_test;
    const auto append = [&](int64_t row, Vector& inputs, Vector& targets) {
      for (int64_t i = 0; i < INPUTS; ++i) inputs.push_back(data.x[row * INPUTS + i]);
      for (int64_t i = 0; i < data.targets; ++i) targets.push_back(data.y[row * data.targets + i]);
    };
    for (int next = 0; next < folds; ++next) {
      const int other = (k + next) % folds;
      for (int64_t row = 0; row < ROWS; ++row)
        if (fold[static_cast<std::size_t>(row)] == other)
          next == 0 ? append(row, x_test, y_test) : append(row, x, y);
    }
    const int64_t n = std::ssize(x) / INPUTS, m = ROWS - n;
    Learner l = prototype_for(dtype, likelihood);
    l.optimizer = make_optimizer(l.model, l.posterior, n);
    l.set("learn_prior", 0);
    l.set("learn_noise", 0);
    l.set("minibatch", 5);
    OK(bdl_search_apply(search.get(), trial, l.optimizer.get()));
    l.fit(bdl_f64(x.data(), n, INPUTS), bdl_f64(y.data(), n, data.targets), epochs);
    Vector density(static_cast<std::size_t>(m));
    OK(bdl_predict_log_density(l.model.get(), l.posterior.get(), bdl_f64(x_test.data(), m, INPUTS),
                               bdl_f64(y_test.data(), m, data.targets), BDL_MONTE_CARLO, samples, seed,
                               bdl_f64_out(density.data(), m, 1)));
    double sum = 0;
    for (const double value : density) sum += value / static_cast<double>(m);
    scores.push_back(sum);
  }
  double mean = 0, square = 0;
  for (const double score : scores) mean += score / folds;
  for (const double score : scores) square += (score - mean) * (score - mean);
  return {{}, mean, std::sqrt(square / (folds - 1) / folds), {}};
}

void scores_are_those_by_hand(void**) {
  for (const bdl_dtype dtype : {BDL_F64, BDL_F32})
    for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_CATEGORICAL}) {
      const dataset data = data_as(dtype, likelihood);
      const Learner prototype = prototype_for(dtype, likelihood);
      const Search search = search_of_three(prototype);
      OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 2, 1, nullptr, nullptr));
      assert_int_equal(bdl_search_trial_count(search.get()), 3);
      for (int64_t k = 0; k < 3; ++k) {
        const TrialRecord got = trial_of(search, k, 3), expected = by_hand(dtype, likelihood, search, k);
        assert_string_equal(got.message.c_str(), "");
        assert_close(got.score, expected.score, 1e-12, "score");
        assert_close(got.standard_error, expected.standard_error, 1e-12, "standard error");
      }
    }
}

/// Options get the trial's values, and others stay; of all trials the one with the highest score is the best.
void values_are_applied(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN), other = prototype_for(BDL_F32, BDL_GAUSSIAN);
  const Search search = search_of_three(prototype);
  OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 6, 2, nullptr, nullptr));
  other.set("momentum", 0.125);
  int64_t best = -1;
  OK(bdl_search_best(search.get(), &best));
  for (int64_t k = 0; k < 8; ++k) {
    const TrialRecord record = trial_of(search, k, 3);
    assert_true(record.score <= trial_of(search, best, 3).score);
    double prior = 0, momentum = 0;
    int64_t count = 0;
    const char* curvature = nullptr;
    OK(bdl_search_apply(search.get(), k, other.optimizer.get()));
    OK(bdl_optimizer_get_double(other.optimizer.get(), "prior_precision", &prior));
    OK(bdl_optimizer_get_double(other.optimizer.get(), "momentum", &momentum));
    OK(bdl_optimizer_get_int(other.optimizer.get(), "samples", &count));
    OK(bdl_optimizer_get_choice(other.optimizer.get(), "curvature", &curvature));
    assert_true(prior == record.values[0] && prior >= 0.01 && prior <= 100 && momentum == 0.125);
    assert_true(count == static_cast<int64_t>(record.values[1]) && count >= 1 && count <= 6);
    assert_string_equal(curvature, record.values[2] == 0 ? "mc-ggn" : "mc-ef");
    Vector lambda(MOST_PARAMETERS);
    const int64_t d = bdl_model_parameters(other.model.get());
    OK(bdl_optimizer_get_prior(other.optimizer.get(), bdl_f64_out(lambda.data(), 1, d)));
    assert_true(static_cast<float>(lambda[0]) == static_cast<float>(prior));
  }
}

/// A search changes nothing of its prototype, and nothing that happens to it later changes the search.
void prototype_is_copied(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const snapshot before = snapshot_of(&t);
  const auto search_on = [&] {
    bdl_search* search = nullptr;
    OK(bdl_search_create(t.optimizer, folds, epochs, BDL_MONTE_CARLO, samples, seed, &search));
    OK(bdl_search_add_double(search, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
    return Search(search);
  };
  const Search first = search_on(), second = search_on();
  OK(bdl_search_run(first.get(), x_of(&data), y_of(&data), 2, 0, nullptr, nullptr));
  const snapshot after = snapshot_of(&t);
  assert_same_state(&before, &after);
  OK(bdl_optimizer_fit(t.optimizer, x_of(&data), y_of(&data), 3, nullptr, nullptr));
  OK(bdl_optimizer_set_double(t.optimizer, "prior_precision", 50));
  trained_free(&t);
  OK(bdl_search_run(second.get(), x_of(&data), y_of(&data), 2, 0, nullptr, nullptr));
  assert_true(all_trials(first, 1) == all_trials(second, 1));
}

/// bdl_optimizer_set_prior() of the prototype holds in the trials, unless they vary the prior.
void fixed_priors_are_copied(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const auto scores = [&](double precision, const char* option) {
    const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
    if (precision > 0) OK(bdl_optimizer_set_prior(prototype.optimizer.get(), bdl_f64(&precision, 1, 1)));
    const Search search = make_search(prototype);
    OK(bdl_search_add_double(search.get(), option, 0.01, 0.1, BDL_SCALE_LOG));
    OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
    return all_trials(search, 1);
  };
  assert_true(scores(1, "learning_rate") == scores(0, "learning_rate"));  // the default is 1
  assert_true(scores(30, "learning_rate") != scores(0, "learning_rate"));
  assert_true(scores(30, "prior_precision") == scores(0, "prior_precision"));
}

/// Trials that diverge or cannot be have a message in place of a score, and the others go on.
void failing_trials_are_kept_apart(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype(make_mlp(BDL_F32, {INPUTS, 5, 5, 2}, BDL_GAUSSIAN, true, BDL_RELU), BDL_F32, 2, ROWS);
  prototype.set("learn_noise", 0);
  prototype.set("final_rate", 1.0);
  prototype.set("guard", 0.0);  // which would prevent it
  const Search search = make_search(prototype);
  int64_t best = -1;
  OK(bdl_search_add_double(search.get(), "learning_rate", 1e-3, 1e6, BDL_SCALE_LOG));
  OK(bdl_search_add_choice(search.get(), "curvature", "mc-ggn | mc-hess"));  // the latter not at rank 2
  OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 12, 6, nullptr, nullptr));
  OK(bdl_search_best(search.get(), &best));
  int scored = 0, unsupported = 0, diverged = 0;
  for (int64_t k = 0; k < 18; ++k) {
    const TrialRecord record = trial_of(search, k, 2);
    if (record.message.empty()) {
      ++scored;
      assert_true(record.values[1] == 0);
      continue;
    }
    assert_true(strncmp(record.message.c_str(), "fold ", 5) == 0 &&
                strstr(record.message.c_str(), " of 3: "));
    ++(record.values[1] == 1 ? unsupported : diverged);
  }
  assert_true(scored >= 4 && unsupported >= 3 && diverged >= 1);
  assert_string_equal(trial_of(search, best, 2).message.c_str(), "");
}

void no_trial_may_have_a_score(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  prototype.set("rule", "bong");
  const Search search = make_search(prototype);
  int64_t best = -1;
  OK(bdl_search_add_double(search.get(), "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 2, 1, nullptr, nullptr));
  assert_int_equal(bdl_search_trial_count(search.get()), 3);
  assert_int_equal(bdl_search_best(search.get(), &best), BDL_ERROR_UNSUPPORTED);
  assert_non_null(
      strstr(bdl_last_error(), "no trial has a score; the first failed with \"fold 1 of 3: option \"rule\""));
  assert_int_equal(best, -1);
}

/// Without ranges the one trial is the prototype's cross-validation, as a range scores the same values.
void prototypes_are_validated(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN), same = prototype_for(BDL_F64, BDL_GAUSSIAN);
  const Search ranged = make_search(prototype);
  OK(bdl_search_add_int(ranged.get(), "samples", 2, 3, BDL_SCALE_LINEAR));
  OK(bdl_search_run(ranged.get(), x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
  const TrialRecord expected = trial_of(ranged, 0, 1);
  same.set("samples", static_cast<int64_t>(expected.values[0]));
  const Search plain = make_search(same);
  double score = 0, standard_error = 0;
  OK(bdl_search_run(plain.get(), x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
  OK(bdl_search_trial(plain.get(), 0, bdl_none_out(), &score, &standard_error, nullptr));
  assert_true(score == expected.score && standard_error == expected.standard_error);
  assert_int_equal(bdl_search_run(plain.get(), x_of(&data), y_of(&data), 1, 0, nullptr, nullptr),
                   BDL_ERROR_UNSUPPORTED);
}

struct Watch {
  int calls = 0, stop_at = 0, answer = 1;
  int64_t first = 0;
};

int32_t watching(void* user_data, const bdl_search* search) {
  Watch& watch = *static_cast<Watch*>(user_data);
  double score = 0;
  ++watch.calls;
  assert_int_equal(bdl_search_trial_count(search), watch.first + watch.calls);
  OK(bdl_search_trial(search, bdl_search_trial_count(search) - 1, bdl_none_out(), &score, nullptr, nullptr));
  return watch.calls == watch.stop_at ? watch.answer : 0;
}

/// Stopped and failed runs keep their trials, and what is run then are the trials that were missing.
void stopped_searches_go_on(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  const Search whole = search_of_three(prototype), pieces = search_of_three(prototype);
  const auto run = [&](const Search& search, int64_t at_random, int64_t bayesian, Watch* watch) {
    if (watch) watch->first = bdl_search_trial_count(search.get());
    return bdl_search_run(search.get(), x_of(&data), y_of(&data), at_random, bayesian,
                          watch ? watching : nullptr, watch);
  };
  Watch all;
  OK(run(whole, 3, 4, &all));
  assert_int_equal(all.calls, 7);
  Watch second{0, 2, 1}, negative{0, 2, -5}, last{0, 1, 1};
  assert_int_equal(run(pieces, 3, 4, &second), BDL_STOPPED);
  assert_int_equal(bdl_search_trial_count(pieces.get()), 2);
  assert_int_equal(run(pieces, 1, 4, &negative), BDL_ERROR_CALLBACK);
  assert_non_null(strstr(bdl_last_error(), "bdl_search_run: the progress callback returned -5"));
  assert_int_equal(bdl_search_trial_count(pieces.get()), 4);
  bdl_search_request_stop(pieces.get());
  assert_int_equal(run(pieces, 0, 3, nullptr), BDL_STOPPED);
  assert_int_equal(bdl_search_trial_count(pieces.get()), 4);
  OK(run(pieces, 0, 2, nullptr));
  OK(run(pieces, 0, 1, &last));  // a stop after the last trial has nothing to stop
  assert_true(all_trials(pieces, 3) == all_trials(whole, 3));
}

int32_t asks_for_a_stop(void* user_data, const bdl_search*) {
  bdl_search_request_stop(static_cast<bdl_search*>(user_data));
  return 0;
}

void callbacks_may_ask_for_a_stop(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  const Search search = search_of_three(prototype);
  assert_int_equal(
      bdl_search_run(search.get(), x_of(&data), y_of(&data), 5, 0, asks_for_a_stop, search.get()),
      BDL_STOPPED);
  assert_int_equal(bdl_search_trial_count(search.get()), 1);
}

/// Three sets of values in all: six trials train three times.
void values_are_not_trained_twice(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  const Search search = make_search(prototype);
  OK(bdl_search_add_int(search.get(), "samples", 2, 4, BDL_SCALE_LINEAR));
  OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 2, 4, nullptr, nullptr));
  Vector scores(5);
  for (int64_t k = 0; k < 6; ++k) {
    const TrialRecord record = trial_of(search, k, 1);
    double& score = scores[static_cast<std::size_t>(record.values[0])];
    assert_true(score == 0 || score == record.score);
    score = record.score;
  }
  assert_true(scores[2] != 0 && scores[3] != 0 && scores[4] != 0);
}

/// The part of N = 1 that a fold trains on is still one example.
void a_data_size_of_one_is_enough(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype(make_mlp(BDL_F64, {INPUTS, outputs_for(BDL_GAUSSIAN)}, BDL_GAUSSIAN), BDL_F64, 1, 1);
  prototype.set("minibatch", 1);
  bdl_search* handle = nullptr;
  OK(bdl_search_create(prototype.optimizer.get(), 3, 1, BDL_MONTE_CARLO, samples, seed, &handle));
  const Search search(handle);
  OK(bdl_search_add_double(handle, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
  OK(bdl_search_run(handle, x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
  assert_string_equal(trial_of(search, 0, 1).message.c_str(), "");
}

/// The prior precision under which noisy data were drawn is found again, about.
void a_search_helps(void**) {
  constexpr int64_t n = 60, inputs = 8;
  Vector x(n * inputs), y(n), e(n * (inputs + 1));
  OK(bdl_posterior_sample(make_posterior(BDL_F64, inputs + 1, 0).get(), 4, 0,
                          bdl_f64_out(e.data(), n, inputs + 1)));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) x[i * inputs + j] = e[i * (inputs + 1) + j];
    y[i] = x[i * inputs] + 0.2 * e[i * (inputs + 1) + inputs];
  }
  Learner prototype(make_mlp(BDL_F64, {inputs, 1}, BDL_GAUSSIAN, false), BDL_F64, FULL, n);
  prototype.set("learn_noise", 0);
  bdl_search* handle = nullptr;
  OK(bdl_search_create(prototype.optimizer.get(), 5, 40, BDL_QUADRATURE, 0, 1, &handle));
  const Search search(handle);
  OK(bdl_search_add_double(search.get(), "initial_noise_precision", 0.01, 10000, BDL_SCALE_LOG));
  OK(bdl_search_run(search.get(), bdl_f64(x.data(), n, inputs), bdl_f64(y.data(), n, 1), 3, 12, nullptr,
                    nullptr));
  int64_t best = -1;
  double mean = 0, variance = 0;
  OK(bdl_search_best(search.get(), &best));
  const TrialRecord record = trial_of(search, best, 1);
  for (const double value : y) mean += value / n;
  for (const double value : y) variance += (value - mean) * (value - mean) / n;
  const double deviation = std::sqrt(variance / record.values[0]);
  assert_true(deviation > 0.15 && deviation < 0.27);  // 0.2; of 60 residuals, some 10 %
}

int destroyed;

/// A linear model f = theta x of the caller's, which counts who calls it.
int32_t user_outputs(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  for (int64_t i = 0; i < x.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < x.cols; ++j)
      sum += static_cast<const double*>(theta.data)[j] *
             static_cast<const double*>(x.data)[i * x.row_stride + j];
    static_cast<double*>(f.data)[i * f.row_stride] = sum;
  }
  return 0;
}

int32_t user_gradients(void*, bdl_matrix, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j)
      static_cast<double*>(rows.data)[i * rows.row_stride + j] =
          static_cast<const double*>(seeds.data)[i * seeds.row_stride] *
          static_cast<const double*>(x.data)[i * x.row_stride + j];
  return 0;
}

/// The user's data outlive the model's handle as long as the search uses them.
void user_models_can_be_searched(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const bdl_matrix y = bdl_strided(data.y, BDL_F64, ROWS, 1, data.targets, 1);
  destroyed = 0;
  Search search;
  {
    bdl_model* model = nullptr;
    OK(create_user(
        BDL_F64, INPUTS, 1, INPUTS, BDL_GAUSSIAN, user_outputs, user_gradients, nullptr,
        [](void*) { ++destroyed; }, &model));
    Learner prototype(Model(model), BDL_F64, 1, ROWS);
    search = make_search(prototype);
  }
  assert_int_equal(destroyed, 0);
  OK(bdl_search_add_double(search.get(), "prior_precision", 0.01, 100, BDL_SCALE_LOG));
  OK(bdl_search_run(search.get(), x_of(&data), y, 2, 1, nullptr, nullptr));
  for (int64_t k = 0; k < 3; ++k) assert_string_equal(trial_of(search, k, 1).message.c_str(), "");
  assert_int_equal(destroyed, 0);
  search.reset();
  assert_int_equal(destroyed, 1);
}

}  // namespace

int test_search() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_by_hand),     cmocka_unit_test(values_are_applied),
      cmocka_unit_test(prototypes_are_validated),     cmocka_unit_test(prototype_is_copied),
      cmocka_unit_test(fixed_priors_are_copied),      cmocka_unit_test(failing_trials_are_kept_apart),
      cmocka_unit_test(no_trial_may_have_a_score),    cmocka_unit_test(stopped_searches_go_on),
      cmocka_unit_test(callbacks_may_ask_for_a_stop), cmocka_unit_test(values_are_not_trained_twice),
      cmocka_unit_test(a_data_size_of_one_is_enough), cmocka_unit_test(a_search_helps),
      cmocka_unit_test(user_models_can_be_searched),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
