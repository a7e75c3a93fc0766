// Models, posteriors, methods and options in all combinations, on six rows of data.
#pragma once

#include <string>

#include "handles.hpp"

namespace combinations {

constexpr int64_t inputs = 2, rows = 6, dimension = 9;

struct Subject {
  const char* name;
  Model model;
  int64_t targets;
  bool has_gradients;
};

inline int32_t outputs_of(void*, bdl_matrix theta, bdl_matrix, bdl_matrix_out f) {
  for (int64_t i = 0; i < f.rows; ++i)
    static_cast<double*>(f.data)[i * f.row_stride] = 0.1 * static_cast<const double*>(theta.data)[0];
  return 0;
}

inline int32_t gradients_of(void*, bdl_matrix, bdl_matrix, bdl_matrix seeds, bdl_matrix_out out) {
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j)
      static_cast<double*>(out.data)[i * out.row_stride + j * out.col_stride] =
          j == 0 ? 0.1 * static_cast<const double*>(seeds.data)[i * seeds.row_stride] : 0;
  return 0;
}

inline Model user_model(bdl_gradients_fn gradients) {
  bdl_model* model = nullptr;
  OK(create_user(BDL_F64, inputs, 1, dimension, BDL_GAUSSIAN, outputs_of, gradients, nullptr, nullptr,
                 &model));
  return Model(model);
}

inline Model network(const char* description, bdl_dtype dtype, bdl_likelihood likelihood = BDL_GAUSSIAN) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_network(dtype, description, likelihood, &model));
  return Model(model);
}

/// Callbacks are in double precision.
inline std::vector<Subject> user_subjects() {
  std::vector<Subject> all;
  all.push_back({"user's", user_model(gradients_of), 1, true});
  all.push_back({"user's without gradients", user_model(nullptr), 1, false});
  return all;
}

inline std::vector<Subject> subjects(bdl_dtype dtype = BDL_F64) {
  std::vector<Subject> all;
  const auto add = [&](const char* name, Model model) { all.push_back({name, std::move(model), 1, true}); };
  add("linear", make_mlp(dtype, {inputs, 1}, BDL_POISSON));
  add("several outputs", make_mlp(dtype, {inputs, 3}, BDL_CATEGORICAL));
  add("network", make_mlp(dtype, {inputs, 2, 1}, BDL_GAUSSIAN));
  add("heteroscedastic", make_mlp(dtype, {inputs, 2, 2}, BDL_HETEROSCEDASTIC));
  add("layers that draw masks", network("input 2; dense 2; tanh; dropout 0.1; dense 1", dtype));
  add("image", network("input 1 1 2; dense 2; tanh; dense 1", dtype));
  add("layers that normalise", network("input 2; dense 1; batchnorm; tanh; dense 1; dense 1", dtype));
  add("convolution", network("input 1 1 2; conv 2 1 nobias; tanh; dense 1", dtype));
  add("linear with Student-t noise", make_mlp(dtype, {inputs, 1}, BDL_STUDENT_T));
  add("linear negative binomial", make_mlp(dtype, {inputs, 1}, BDL_NEGATIVE_BINOMIAL));
  add("ordinal network", make_mlp(dtype, {inputs, 2, 1}, BDL_ORDINAL));
  if (dtype == BDL_F64)
    for (Subject& subject : user_subjects()) all.push_back(std::move(subject));
  return all;
}

constexpr const char* families[] = {"low_rank",       "diagonal",        "full",
                                    "full_moment",    "diagonal_moment", "dropout",
                                    "layerwise_full", "low_rank_moment", "layerwise_low_rank_moment",
                                    "kronecker"};
constexpr int family_count = static_cast<int>(sizeof families / sizeof *families);

/// Nothing for a custom model with dropout or Kronecker's.
inline Posterior posterior_of(const Model& model, int family) {
  const int64_t size = bdl_model_parameters(model.get());
  const auto dtype = static_cast<bdl_dtype>(bdl_model_dtype(model.get()));
  bdl_posterior* q = nullptr;
  if (family == 0) OK(bdl_posterior_create_low_rank(dtype, size, 1, &q));
  if (family == 1) OK(bdl_posterior_create_low_rank(dtype, size, 0, &q));
  if (family == 2) OK(bdl_posterior_create_full(dtype, size, &q));
  if (family == 3) OK(bdl_posterior_create_full_moment(dtype, size, &q));
  if (family == 4) OK(bdl_posterior_create_diagonal_moment(dtype, size, &q));
  if (family == 6) OK(bdl_posterior_create_layerwise_full(model.get(), &q));
  if (family == 7) OK(bdl_posterior_create_low_rank_moment(dtype, size, 2, &q));
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

/// True if the method, or the rule that it has been given, is for streams.
inline bool is_for_streams(const bdl_optimizer* o) {
  const char* rule = nullptr;
  int32_t is_stream = 0, is_exact = 0;
  OK(bdl_optimizer_get_choice(o, "rule", &rule));
  OK(bdl_method_describe(bdl_optimizer_method(o), nullptr, &is_stream, &is_exact, nullptr, nullptr, nullptr));
  return !is_exact && (is_stream || std::string(rule) == "bong" || std::string(rule) == "bog");
}

/// Uses an optimizer as its method, or the rule that it was given, is meant to be used.
inline bdl_status use(bdl_optimizer* o, const Subject& subject, const Data& data) {
  const bdl_matrix x = bdl_f64(data.x, rows, inputs), y = bdl_f64(data.y, rows, subject.targets);
  if (is_for_streams(o)) return bdl_optimizer_observe(o, x, y, bdl_none_out());
  if (subject.has_gradients) return bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr);
  const std::vector<double> gradient(dimension, 0.5);
  return bdl_optimizer_step_rows(o, bdl_f64(gradient.data(), 1, dimension));
}

/// use(WORD) for each word of each option that is a choice, as "NAME=WORD".
template <class Use>
void for_each_choice(Use&& visit) {
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    const char *name, *range;
    bdl_option_type type;
    OK(bdl_option_describe(i, &name, &type, nullptr, &range, nullptr));
    if (type != BDL_OPTION_CHOICE) continue;
    std::string words(range);
    for (size_t bar; !words.empty(); words.erase(0, bar == words.npos ? bar : bar + 3)) {
      bar = words.find(" | ");
      visit(std::string(name) + "=" + words.substr(0, bar));
    }
  }
}

struct Settings {
  std::vector<std::string> alone, together;
};

/// Options that say what is done, alone and in pairs; how much of it is no matter of combinations. `more`:
/// others to meet the rules.
inline Settings settings(std::initializer_list<const char*> more = {}) {
  std::vector<std::string> single = {"laplace=1",       "learn_prior=1",  "learn_noise=1",
                                     "learning_rate=2", "probes=2",       "iterations=2",
                                     "guard=0",         "transition=0.9", "initial_noise_precision=2",
                                     "learn_from=0",    "augment_flip=1"};
  single.insert(single.end(), more.begin(), more.end());
  for_each_choice([&](const std::string& text) { single.push_back(text); });
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
        for (const char* third :
             {" mean_update=unprojected", " descent=adam", " low_rank_update=moving_average"})
          all.push_back(rule + " " + curvature + third);
      }
  return {single, all};
}

}  // namespace combinations
