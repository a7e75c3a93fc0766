// Methods x families x models x options: what is not refused when an optimizer is created or an option is set
// is not refused by the use that it is for.
#include <cstdlib>
#include <string>

#include "handles.hpp"

namespace {

#ifdef __has_feature
#define BDL_TEST_SANITIZED __has_feature(address_sanitizer)
#else
#define BDL_TEST_SANITIZED 0
#endif
constexpr bool is_sanitized = BDL_TEST_SANITIZED;
constexpr int64_t inputs = 2, rows = 6, dimension = 9;

struct Subject {
  const char* name;
  Model model;
  int64_t targets;
  bool has_gradients;
};

int32_t outputs_of(void*, bdl_matrix theta, bdl_matrix, bdl_matrix_out f) {
  for (int64_t i = 0; i < f.rows; ++i)
    static_cast<double*>(f.data)[i * f.row_stride] = 0.1 * static_cast<const double*>(theta.data)[0];
  return 0;
}

int32_t gradients_of(void*, bdl_matrix, bdl_matrix, bdl_matrix seeds, bdl_matrix_out out) {
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j)
      static_cast<double*>(out.data)[i * out.row_stride + j * out.col_stride] =
          j == 0 ? 0.1 * static_cast<const double*>(seeds.data)[i * seeds.row_stride] : 0;
  return 0;
}

Model user_model(bdl_gradients_fn gradients) {
  bdl_model* model = nullptr;
  OK(create_user(BDL_F64, inputs, 1, dimension, BDL_GAUSSIAN, outputs_of, gradients, nullptr, nullptr,
                 &model));
  return Model(model);
}

Model network(const char* description) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_network(BDL_F64, description, BDL_GAUSSIAN, &model));
  return Model(model);
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  all.push_back({"linear", make_mlp(BDL_F64, {inputs, 1}, BDL_POISSON), 1, true});
  all.push_back({"several outputs", make_mlp(BDL_F64, {inputs, 3}, BDL_CATEGORICAL), 1, true});
  all.push_back({"network", make_mlp(BDL_F64, {inputs, 2, 1}, BDL_GAUSSIAN), 1, true});
  all.push_back({"heteroscedastic", make_mlp(BDL_F64, {inputs, 2, 2}, BDL_HETEROSCEDASTIC), 1, true});
  all.push_back({"layers that draw masks", network("input 2; dense 2; tanh; dropout 0.1; dense 1"), 1, true});
  all.push_back({"image", network("input 1 1 2; dense 2; tanh; dense 1"), 1, true});
  all.push_back(
      {"layers that normalise", network("input 2; dense 1; batchnorm; tanh; dense 1; dense 1"), 1, true});
  all.push_back({"convolution", network("input 1 1 2; conv 2 1 nobias; tanh; dense 1"), 1, true});
  all.push_back({"linear with Student-t noise", make_mlp(BDL_F64, {inputs, 1}, BDL_STUDENT_T), 1, true});
  all.push_back({"user's", user_model(gradients_of), 1, true});
  all.push_back({"user's without gradients", user_model(nullptr), 1, false});
  return all;
}

constexpr const char* families[] = {"low_rank",       "diagonal",        "full",
                                    "full_moment",    "diagonal_moment", "dropout",
                                    "layerwise_full", "low_rank_moment", "layerwise_low_rank_moment",
                                    "kronecker"};

/// Nothing for a user's model with dropout or Kronecker's.
Posterior posterior_of(const Model& model, int family) {
  const int64_t size = bdl_model_parameters(model.get());
  bdl_posterior* q = nullptr;
  if (family == 0) OK(bdl_posterior_create_low_rank(BDL_F64, size, 1, &q));
  if (family == 1) OK(bdl_posterior_create_low_rank(BDL_F64, size, 0, &q));
  if (family == 2) OK(bdl_posterior_create_full(BDL_F64, size, &q));
  if (family == 3) OK(bdl_posterior_create_full_moment(BDL_F64, size, &q));
  if (family == 4) OK(bdl_posterior_create_diagonal_moment(BDL_F64, size, &q));
  if (family == 6) OK(bdl_posterior_create_layerwise_full(model.get(), &q));
  if (family == 7) OK(bdl_posterior_create_low_rank_moment(BDL_F64, size, 2, &q));
  if (family == 8) OK(bdl_posterior_create_layerwise_low_rank_moment(model.get(), 1, &q));
  if (family == 9) (void)bdl_posterior_create_kronecker(model.get(), &q);
  if (family == 5) (void)bdl_posterior_create_dropout(model.get(), 0.1, 0.1, &q);
  return Posterior(q);
}

struct Data {
  double x[rows * inputs], y[rows];
  Data() {
    for (int i = 0; i < rows * inputs; ++i) x[i] = (i * 7 % 5 - 2) / 2.0;
    for (int i = 0; i < rows; ++i) y[i] = i % 2;
  }
};

/// What the method, or the rule that it has been given, is for.
bdl_status use(bdl_optimizer* o, const Subject& subject, const Data& data) {
  const char* rule = nullptr;
  int32_t is_stream = 0, is_exact = 0;
  OK(bdl_optimizer_get_choice(o, "rule", &rule));
  OK(bdl_method_describe(bdl_optimizer_method(o), nullptr, &is_stream, &is_exact, nullptr, nullptr, nullptr));
  const bool streams = is_stream || std::string(rule) == "bong" || std::string(rule) == "bog";
  const bdl_matrix x = bdl_f64(data.x, rows, inputs), y = bdl_f64(data.y, rows, subject.targets);
  if (streams && !is_exact) return bdl_optimizer_observe(o, x, y, bdl_none_out());
  if (subject.has_gradients) return bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr);
  const std::vector<double> gradient(dimension, 0.5);
  return bdl_optimizer_step_rows(o, bdl_f64(gradient.data(), 1, dimension));
}

struct Settings {
  std::vector<std::string> alone, together;
};

/// Options that say what is done, alone and in pairs; how much of it is no matter of combinations.
Settings settings() {
  std::vector<std::string> single = {
      "laplace=1",    "learn_prior=1",     "learn_noise=1", "learning_rate=2", "probes=2",
      "iterations=2", "moment_jitter=0.1", "guard=0",       "transition=0.9",  "initial_noise_precision=2",
      "learn_from=0", "augment_flip=1"};
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    const char *name, *range;
    bdl_option_type type;
    OK(bdl_option_describe(i, &name, &type, nullptr, &range, nullptr));
    if (type != BDL_OPTION_CHOICE) continue;
    std::string words(range);
    for (size_t bar; !words.empty(); words.erase(0, bar == words.npos ? bar : bar + 3)) {
      bar = words.find(" | ");
      single.push_back(std::string(name) + "=" + words.substr(0, bar));
    }
  }
  std::vector<std::string> all;
  const auto is_what = [](const std::string& text) {
    return text.starts_with("rule=") || text.starts_with("curvature=");
  };
  for (const std::string& what : single)
    for (const std::string& other : single)
      if (is_what(what) && !is_what(other)) all.push_back(what + " " + other);
  for (const std::string& rule : single)
    for (const std::string& curvature : single)
      if (rule.starts_with("rule=") && curvature.starts_with("curvature=")) {
        all.push_back(rule + " " + curvature);
        for (const char* more :
             {" mean_update=unprojected", " descent=adam", " low_rank_update=moving_average"})
          all.push_back(rule + " " + curvature + more);
      }
  return {single, all};
}

struct Count {
  int used = 0, refused = 0;
};

/// Is there such an optimizer?
bool check(const Subject& subject, int family, const char* method, const std::string& text, Count& count) {
  static const Data data;
  const Posterior q = posterior_of(subject.model, family);
  bdl_optimizer* created = nullptr;
  if (!q || bdl_optimizer_create(subject.model.get(), q.get(), method, rows, &created) != BDL_OK)
    return false;
  const Optimizer o(created);
  if (bdl_optimizer_set_text(created, text.c_str()) != BDL_OK) return ++count.refused, true;
  const bdl_status status = use(created, subject, data);
  ++count.used;
  if (status == BDL_ERROR_UNSUPPORTED || status == BDL_ERROR_INVALID_ARGUMENT)
    fail_msg("%s, %s, %s, \"%s\": %s", subject.name, families[family], method, text.c_str(),
             bdl_last_error());
  return true;
}

void steps_refuse_nothing_for_the_first_time(void**) {
  // Each pair meets every fifth method and family, others with the next subject; fewer where sanitizers look
  // on, and all where BDL_ALL_PAIRS is set.
  const size_t stride = std::getenv("BDL_ALL_PAIRS") ? 1 : is_sanitized ? 23 : 5;
  Count count;
  size_t first = 0;
  const Settings all = settings();
  for (const Subject& subject : subjects())
    for (int family = 0; family < 7; ++family)
      for (int64_t m = 0; m < bdl_method_count(); ++m, first = (first + 1) % stride) {
        const char* const method = bdl_method_name(m);
        if (!check(subject, family, method, "", count)) continue;
        for (const std::string& text : all.alone) check(subject, family, method, text, count);
        for (size_t i = first; i < all.together.size(); i += stride)
          check(subject, family, method, all.together[i], count);
      }
  print_message("%d combinations used, %d sets refused\n", count.used, count.refused);
  const int least = 50000 / static_cast<int>(stride);
  assert_true(count.used > least && count.refused > least);
}

/// What one use is for, the other refuses before anything happens.
void other_uses_refuse_at_once(void**) {
  const Data data;
  const bdl_matrix x = bdl_f64(data.x, rows, inputs), y = bdl_f64(data.y, rows, 1);
  const Model model = make_mlp(BDL_F64, {inputs, 2, 1}, BDL_GAUSSIAN);
  const Posterior q = posterior_of(model, 0);
  const auto refused = [&](const char* method, const auto& call, const char* word) {
    const Optimizer o = make_optimizer(model, q, rows, method);
    assert_int_equal(call(o.get()), BDL_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bdl_last_error(), word));
    assert_true(bdl_posterior_is_blank(q.get()));
  };
  refused(
      "bong", [&](auto* o) { return bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr); }, "rule \"bong\"");
  refused(
      "map", [&](auto* o) { return bdl_optimizer_observe(o, x, y, bdl_none_out()); }, "rule \"map\"");
  refused(
      "slang-online-eig", [&](auto* o) { return bdl_optimizer_observe(o, x, y, bdl_none_out()); },
      "moving_average");
}

}  // namespace

/// Streams see rows of one seed each, and Kronecker factors those of all labels.
void streams_have_no_kronecker_factors(void**) {
  const Model model = make_mlp(BDL_F64, {inputs, 1, 2}, BDL_CATEGORICAL);
  for (const int family : {1, 4}) {
    const Posterior q = posterior_of(model, family);
    const Optimizer o = make_optimizer(model, q, rows, "blr");
    for (const char* text : {"descent=kfac", "descent=kfac curvature=mc-reparam"})
      assert_int_equal(bdl_optimizer_set_text(o.get(), text), BDL_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bdl_last_error(), "Kronecker-factored"));
  }
}

int test_combinations() {
  const CMUnitTest tests[] = {cmocka_unit_test(steps_refuse_nothing_for_the_first_time),
                              cmocka_unit_test(other_uses_refuse_at_once),
                              cmocka_unit_test(streams_have_no_kronecker_factors)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
