#include "training.hpp"

#include <cmath>
#include <ctime>
#include <filesystem>

#include "score.hpp"
#include "support/dataset.h"

namespace mnist {
namespace {

using support::check;
using support::number;
using support::Row;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// The columns that name a run.
Row key_of(const Run& run) {
  return {run.recipe.name, std::to_string(run.rank), std::to_string(run.epochs),
          std::to_string(run.validation)};
}

Handles create(const Run& run, int64_t examples) {
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* optimizer = nullptr;
  const int64_t sizes[] = {pixels, run.hidden, run.hidden, classes};
  check(bdl_model_create_mlp(BDL_F32, sizes, 4, BDL_RELU, 1, BDL_CATEGORICAL, &model));
  check(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), run.rank, &q));
  check(bdl_optimizer_create(model, q, "slang", examples, &optimizer));
  for (const std::string& option : run.recipe.options) support::set_option(optimizer, option);
  return {support::Model(model), support::Posterior(q), support::Optimizer(optimizer)};
}

Handles load(const std::string& path) {
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* optimizer = nullptr;
  check(bdl_load(path.c_str(), nullptr, &model, &q, &optimizer));
  return {support::Model(model), support::Posterior(q), support::Optimizer(optimizer)};
}

/// Records every epoch.
struct Diary {
  const Run& run;
  const Handles& handles;
  bdl_matrix x, y;  ///< of the validation set; no rows: none
  std::string checkpoint;
  support::Table& epochs;
  double seconds, since;  ///< CPU time of training: until this process's last mark, and that mark
};

/// Writes the row first: an epoch whose checkpoint was lost is repeated with identical results, and has its
/// row already.
int32_t after_epoch(void* context, const bdl_optimizer* optimizer) {
  Diary& diary = *static_cast<Diary*>(context);
  diary.seconds += cpu_seconds() - diary.since;
  double epoch = 0, log_likelihood = 0, kl = 0;
  check(bdl_optimizer_progress(optimizer, nullptr, nullptr, &epoch));
  check(bdl_optimizer_running_elbo(optimizer, &log_likelihood, &kl));
  Row row = key_of(diary.run);
  row.push_back(number(epoch));
  if (!diary.epochs.done(row)) {
    const Score score =
        diary.x.rows > 0 ? score_of(diary.handles, diary.x, diary.y, diary.run.check_samples) : Score{};
    for (double value : {diary.seconds, log_likelihood - kl, log_likelihood, kl, score.error, score.nll})
      row.push_back(number(value, 8));
    diary.epochs.add({row});
    std::fprintf(stderr,
                 "%s, rank %d, epoch %g of %d: %.0f s, ELBO %.0f, validation error %.2f %%, NLL %.4f\n",
                 diary.run.recipe.name.c_str(), diary.run.rank, epoch, diary.run.epochs, diary.seconds,
                 log_likelihood - kl, 100 * score.error, score.nll);
  }
  check(bdl_save(diary.checkpoint.c_str(), nullptr, nullptr, optimizer));
  diary.since = cpu_seconds();
  return 0;
}

/// CPU time that epochs.csv knows of.
double seconds_before(const Run& run, const std::string& results, double epoch) {
  Row key = key_of(run);
  key.push_back(number(epoch));
  for (const Row& row : support::read_csv(results + "/epochs.csv"))
    if (row.size() == epoch_columns.size() && std::equal(key.begin(), key.end(), row.begin()))
      return std::atof(row[key.size()].c_str());
  return 0;
}

Handles train(const Run& run, const Digits& digits, const std::string& results, support::Table& epochs,
              double& seconds) {
  const int64_t examples = digits.rows() - run.validation;
  const std::string checkpoint = results + "/" + run.recipe.name + "-" + std::to_string(run.rank) + "-" +
                                 std::to_string(run.epochs) + "-" + std::to_string(run.validation) +
                                 ".safetensors";
  const bool resumed = std::filesystem::exists(checkpoint);
  Handles handles = resumed ? load(checkpoint) : create(run, examples);
  double done = 0;
  check(bdl_optimizer_progress(handles.optimizer.get(), nullptr, nullptr, &done));
  Diary diary{run,        handles, digits.x(examples, run.validation), digits.y(examples, run.validation),
              checkpoint, epochs,  seconds_before(run, results, done), cpu_seconds()};
  if (done < run.epochs)
    check(bdl_optimizer_fit(handles.optimizer.get(), digits.x(0, examples), digits.y(0, examples),
                            resumed ? 0 : run.epochs, after_epoch, &diary));
  seconds = diary.seconds;
  return handles;
}

}  // namespace

const Row epoch_columns = {"recipe",        "rank", "epochs",         "validation", "epoch",
                           "seconds",       "elbo", "log_likelihood", "kl",         "validation_error",
                           "validation_nll"};
const Row test_columns = {"recipe", "rank", "epochs",        "validation",   "error",
                          "nll",    "ece",  "train_seconds", "test_seconds", "peak_megabytes",
                          "auroc",  "elbo", "learned"};

Recipe recipe_of(const std::string& name) {
  if (name == "default") return {name, {}};
  if (name == "tuned")
    return {name, {"learning_rate=0.05", "curvature_rate=0.0005", "initial_precision=5000", "learn_prior=0"}};
  if (name != "paper") support::stop("no recipe " + name);
  return {
      name,
      {"minibatch=200", "samples=4", "learning_rate=0.1", "curvature_rate=0.1", "schedule=power", "decay=0.6",
       "momentum=0.9", "prior_groups=weights_biases", "prior_precision=54.598150033",
       "bias_prior_precision=1e-6", "learn_prior=0", "initial_precision=1", "initialization=uniform_fan_in"}};
}

void run(const Run& run, const Digits& digits, const Digits& test, const Digits& fashion,
         const std::string& results, support::Table& epochs, support::Table& tests) {
  Row row = key_of(run);
  if (tests.done(row)) return;
  double train_seconds = 0;
  const Handles handles = train(run, digits, results, epochs, train_seconds);
  const double start = cpu_seconds();
  const Score score = score_of(handles, test.x(0, test.rows()), test.y(0, test.rows()), run.test_samples);
  const double test_seconds = cpu_seconds() - start;
  const std::vector<double> strange = entropies(handles, fashion.x(0, fashion.rows()), run.test_samples);
  double log_likelihood = 0, kl = 0;
  check(bdl_optimizer_running_elbo(handles.optimizer.get(), &log_likelihood, &kl));
  for (double value : {score.error, score.nll, score.ece, train_seconds, test_seconds, peak_megabytes(),
                       auroc(score.entropies, strange), log_likelihood - kl, learned_share(handles)})
    row.push_back(number(value, 8));
  tests.add({row});
}

}  // namespace mnist
