// usage: bdl_checkpoints FOLDER
// Writes the golden checkpoints: NAME.safetensors for every kind of model, posterior and optimizer, and
// NAME.txt with the numbers that tests/c_api/test_golden_checkpoints.cpp compares.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "checkpoints/values.hpp"

namespace {

using namespace checkpoints;

/// The parts of a case that are kept: the model and the posterior after training, or these and the optimizer
/// in the middle of it.
enum class Kept { result, course };

struct Case {
  const char* name;
  bdl_likelihood likelihood = BDL_GAUSSIAN;
  std::vector<std::int64_t> sizes = {2, 3, 1};  // none: a user's own model
  bdl_activation activation = BDL_TANH;
  bdl_dtype dtype = BDL_F64;
  bdl_family family = BDL_LOW_RANK;
  std::int64_t rank = 1;
  bool standardize = false;
  const char* method = "slang-ggn";
  Kept kept = Kept::result;
  const char* description = nullptr;  // of the network, in place of sizes
  bool has_prior = false;             // another posterior, as the prior
};

constexpr const char* residual =
    "input 2\ndense 3\ntanh\nresidual\ndense 3\nswish\ndense 3 nobias\nend\ndense 1 nobias";

constexpr const char* convolution =
    "input 2 3 3\nconv 4 2 pad 1\nbatchnorm\ntanh\nmaxpool 2\nconv 2 2 groups 2 nobias\nflatten\ndense 1";

std::vector<Case> all_cases() {
  return {
      {.name = "mlp-gaussian", .sizes = {2, 3, 2}},
      {.name = "mlp-bernoulli", .likelihood = BDL_BERNOULLI, .sizes = {2, 3, 2}, .activation = BDL_RELU},
      {.name = "mlp-categorical",
       .likelihood = BDL_CATEGORICAL,
       .sizes = {2, 3, 2, 3},
       .activation = BDL_GELU},
      {.name = "mlp-poisson", .likelihood = BDL_POISSON, .activation = BDL_SOFTPLUS},
      {.name = "mlp-heteroscedastic", .likelihood = BDL_HETEROSCEDASTIC, .sizes = {2, 3, 2}},
      {.name = "mlp-student-t", .likelihood = BDL_STUDENT_T, .activation = BDL_SWISH},
      {.name = "mlp-standardized", .sizes = {2, 3, 2}, .standardize = true},
      {.name = "mlp-f32", .dtype = BDL_F32},
      {.name = "glm-bernoulli", .likelihood = BDL_BERNOULLI, .sizes = {2, 1}},
      {.name = "glm-gaussian", .sizes = {2, 1}, .standardize = true},
      {.name = "user", .sizes = {}},
      {.name = "posterior-diagonal", .rank = 0},
      {.name = "posterior-rank-3", .rank = 3},
      {.name = "posterior-full", .family = BDL_FULL},
      {.name = "posterior-full-moment", .family = BDL_FULL_MOMENT, .method = "bong"},
      {.name = "posterior-diagonal-moment", .family = BDL_DIAGONAL_MOMENT, .method = "bong"},
      {.name = "posterior-dropout", .family = BDL_DROPOUT, .method = "mc-dropout"},
      {.name = "optimizer-slang",
       .sizes = {2, 3, 2},
       .standardize = true,
       .method = "slang",
       .kept = Kept::course},
      {.name = "optimizer-slang-f32", .dtype = BDL_F32, .method = "slang", .kept = Kept::course},
      {.name = "optimizer-slang-full", .family = BDL_FULL, .method = "slang-ggn", .kept = Kept::course},
      {.name = "optimizer-bbb", .rank = 0, .method = "bbb", .kept = Kept::course},
      {.name = "optimizer-mc-dropout", .family = BDL_DROPOUT, .method = "mc-dropout", .kept = Kept::course},
      {.name = "optimizer-lo-fi", .method = "lo-fi", .kept = Kept::course},
      {.name = "optimizer-bong-full-moment",
       .family = BDL_FULL_MOMENT,
       .method = "bong",
       .kept = Kept::course},
      {.name = "network-residual", .description = residual},
      {.name = "network-dropout", .description = "input 2\ndense 4\nrelu\ndropout 0.25\ndense 1"},
      {.name = "posterior-layerwise-full", .family = BDL_LAYERWISE_FULL},
      {.name = "optimizer-layerwise-full", .family = BDL_LAYERWISE_FULL, .kept = Kept::course},
      {.name = "optimizer-network", .method = "slang", .kept = Kept::course, .description = residual},
      {.name = "network-convolution", .method = "slang", .description = convolution},
      {.name = "optimizer-convolution", .method = "slang", .kept = Kept::course, .description = convolution},
      {.name = "optimizer-convolution-dropout",
       .family = BDL_DROPOUT,
       .method = "mc-dropout",
       .kept = Kept::course,
       .description = convolution},
      {.name = "optimizer-prior", .rank = 2, .kept = Kept::course, .has_prior = true},
  };
}

void check(bdl_status status) {
  if (status != BDL_OK) throw std::runtime_error(bdl_last_error());
}

struct Handles {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;

  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    bdl_optimizer_free(optimizer);
    bdl_posterior_free(posterior);
    bdl_model_free(model);
  }
};

bdl_status create_model(const Case& c, bdl_model** model) {
  if (c.sizes.empty()) return create_user_model(model);
  if (c.description) return bdl_model_create_network(c.dtype, c.description, c.likelihood, model);
  return bdl_model_create_mlp(c.dtype, c.sizes.data(), static_cast<std::int32_t>(c.sizes.size()),
                              c.activation, 1, c.likelihood, model);
}

bdl_status create_posterior(const Case& c, const bdl_model* model, bdl_posterior** posterior) {
  const std::int64_t dimension = bdl_model_parameters(model);
  if (c.family == BDL_FULL) return bdl_posterior_create_full(c.dtype, dimension, posterior);
  if (c.family == BDL_FULL_MOMENT) return bdl_posterior_create_full_moment(c.dtype, dimension, posterior);
  if (c.family == BDL_DIAGONAL_MOMENT)
    return bdl_posterior_create_diagonal_moment(c.dtype, dimension, posterior);
  if (c.family == BDL_LAYERWISE_FULL) return bdl_posterior_create_layerwise_full(model, posterior);
  if (c.family == BDL_DROPOUT) return bdl_posterior_create_dropout(model, 0.1, 0.2, posterior);
  return bdl_posterior_create_low_rank(c.dtype, dimension, c.rank, posterior);
}

std::int32_t stop_after_five_steps(void*, const bdl_optimizer* optimizer) {
  std::int64_t step = 0;
  return bdl_optimizer_progress(optimizer, &step, nullptr, nullptr) == BDL_OK && step >= 5 ? 1 : 0;
}

/// Half of the data of a stream; a fit of three epochs, whole or interrupted after five of its nine steps.
void train(const Case& c, const Handles& h) {
  const Table x = inputs_for(h.model), y = targets_for(h.model);
  std::int32_t is_stream = 0;
  check(bdl_method_describe(c.method, nullptr, &is_stream, nullptr, nullptr, nullptr, nullptr));
  if (is_stream)
    return check(bdl_optimizer_observe(h.optimizer, x.first(rows / 2), y.first(rows / 2), bdl_none_out()));
  check(bdl_optimizer_set_int(h.optimizer, "minibatch", 8));
  check(bdl_optimizer_set_int(h.optimizer, "progress_every", 1));
  const bool stops = c.kept == Kept::course;
  const bdl_status status =
      bdl_optimizer_fit(h.optimizer, x.all(), y.all(), 3, stops ? stop_after_five_steps : nullptr, nullptr);
  if (!stops || status != BDL_STOPPED) check(status);
}

/// Makes the posterior of the first half of the data the prior.
void set_prior(const Case& c, const Handles& h) {
  Handles first;
  check(create_posterior(c, h.model, &first.posterior));
  check(bdl_optimizer_create(h.model, first.posterior, c.method, rows / 2, &first.optimizer));
  const Table x = inputs_for(h.model), y = targets_for(h.model);
  check(bdl_optimizer_fit(first.optimizer, x.first(rows / 2), y.first(rows / 2), 3, nullptr, nullptr));
  check(bdl_optimizer_set_prior_posterior(h.optimizer, first.posterior));
}

/// A user's own model is not trained here: its posterior is set.
void learn(const Case& c, Handles& h) {
  const double mean[] = {1, -0.5, 0.25}, precision[] = {2, 4, 8};
  if (c.sizes.empty())
    return check(
        bdl_posterior_set_low_rank(h.posterior, bdl_f64(mean, 1, 3), bdl_none(), bdl_f64(precision, 1, 3)));
  check(bdl_optimizer_create(h.model, h.posterior, c.method, rows, &h.optimizer));
  if (c.has_prior) set_prior(c, h);
  if (c.standardize)
    check(bdl_model_standardize(h.model, inputs_for(h.model).all(), targets_for(h.model).all()));
  train(c, h);
}

void write_values(const std::filesystem::path& path, const Quantities& all) {
  std::ofstream file(path);
  file.precision(17);
  for (const Quantity& quantity : all) {
    file << quantity.key;
    for (const double number : quantity.numbers) file << ' ' << number;
    file << '\n';
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write(const Case& c, const std::filesystem::path& folder) {
  Handles h;
  check(create_model(c, &h.model));
  check(create_posterior(c, h.model, &h.posterior));
  learn(c, h);
  const bool keeps = c.kept == Kept::course;
  const std::string path = (folder / (std::string(c.name) + ".safetensors")).string();
  check(bdl_save(path.c_str(), h.model, h.posterior, keeps ? h.optimizer : nullptr));
  Quantities all = quantities_of(h.model, h.posterior);
  if (keeps) add_course(all, h.model, h.posterior, h.optimizer);
  write_values(folder / (std::string(c.name) + ".txt"), all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    std::filesystem::create_directories(argv[1]);
    for (const Case& c : all_cases()) write(c, argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
