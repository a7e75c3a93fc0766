#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "support/dataset.h"
#include "support/table.hpp"

namespace vogn {

using support::check;

namespace {

using Clock = std::chrono::steady_clock;

support::Posterior make_posterior(const Method& method, const Trial& trial, const bdl_model* model) {
  const int64_t d = bdl_model_parameters(model);
  bdl_posterior* q = nullptr;
  switch (method.family) {
    case Family::diagonal:
    case Family::low_rank:
      check(bdl_posterior_create_low_rank(BDL_F32, d, method.rank, &q));
      break;
    case Family::low_rank_moment:
      check(bdl_posterior_create_layerwise_low_rank_moment(model, method.rank, &q));
      break;
    case Family::kronecker:
      check(bdl_posterior_create_kronecker(model, &q));
      break;
    case Family::dropout:
      check(bdl_posterior_create_dropout(model, 0, trial.rate, &q));
      break;
  }
  return support::Posterior(q);
}

Member begin(const Course& course, const Method& method, const Trial& trial, const Part& part, int64_t seed) {
  Member member{make_model(course, part.images), nullptr, nullptr};
  check(bdl_model_standardize(member.model.get(), part.x(), bdl_none()));
  member.posterior = make_posterior(method, trial, member.model.get());
  const int64_t data_size = course.copies * part.count;
  bdl_optimizer* optimizer = nullptr;
  check(
      bdl_optimizer_create(member.model.get(), member.posterior.get(), method.method, data_size, &optimizer));
  member.optimizer.reset(optimizer);
  check(bdl_optimizer_set_double(optimizer, "prior_precision", trial.decay * static_cast<double>(data_size)));
  for (const std::string& options : {course.options, method.options, trial.options})
    check(bdl_optimizer_set_text(optimizer, options.c_str()));
  check(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
  check(bdl_optimizer_set_int(optimizer, "minibatch", std::min(course.minibatch, part.count)));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  return member;
}

Member resume(const std::string& path) {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  check(bdl_load(path.c_str(), nullptr, &model, &posterior, &optimizer));
  return {support::Model(model), support::Posterior(posterior), support::Optimizer(optimizer)};
}

struct Saving {
  const std::string& path;
  Clock::time_point last = Clock::now();
};

int32_t save_each_minute(void* user_data, const bdl_optimizer* optimizer) {
  auto& saving = *static_cast<Saving*>(user_data);
  if (Clock::now() - saving.last < std::chrono::minutes(1)) return 0;
  saving.last = Clock::now();
  return bdl_save(saving.path.c_str(), nullptr, nullptr, optimizer) == BDL_OK ? 0 : -1;
}

/// False if training has diverged.
bool finish(bdl_status status) {
  if (status == BDL_ERROR_DIVERGED) return false;
  check(status);
  return true;
}

void train_member(const Course& course, const Method& method, const Trial& trial, const Part& part,
                  int64_t seed, const std::string& checkpoint, Learned& learned) {
  const bool goes_on = !checkpoint.empty() && std::filesystem::exists(checkpoint);
  Member member = goes_on ? resume(checkpoint) : begin(course, method, trial, part, seed);
  Saving saving{checkpoint};
  if (!finish(bdl_optimizer_fit(member.optimizer.get(), part.x(), part.y(), goes_on ? 0 : course.epochs,
                                checkpoint.empty() ? nullptr : save_each_minute, &saving)))
    learned.has_diverged = true;
  if (!checkpoint.empty()) std::filesystem::remove(checkpoint);
  learned.members.push_back(std::move(member));
}

struct FreePredictor {
  void operator()(bdl_predictor* handle) const { bdl_predictor_free(handle); }
};

}  // namespace

Part whole(const support::Images& images) {
  return {images, 0, images.count()};
}

Part beginning(const support::Images& images, int64_t count) {
  return {images, 0, std::min(count, images.count())};
}

support::Model make_model(const Course& course, const support::Images& images) {
  const char* text = course.network.c_str();
  if (!course.network.starts_with("input"))
    check(bdl_network_description(text, images.channels, images.rows, images.columns, course.classes, &text));
  bdl_model* model = nullptr;
  check(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  return support::Model(model);
}

Learned train(const Course& course, const Method& method, const Trial& trial, const Part& part, int64_t seed,
              const std::string& checkpoint) {
  Learned learned;
  const double start = cpu_seconds();
  for (int64_t m = 0; m < method.members; ++m)
    train_member(course, method, trial, part, 100 * seed + m, method.members > 1 ? std::string() : checkpoint,
                 learned);
  learned.seconds = cpu_seconds() - start;
  return learned;
}

std::vector<double> predict(const Learned& learned, const Method& method, const Part& part, int64_t classes) {
  std::vector<const bdl_model*> models;
  std::vector<const bdl_posterior*> posteriors;
  for (const Member& member : learned.members) {
    models.push_back(member.model.get());
    posteriors.push_back(member.posterior.get());
  }
  bdl_predictor* created = nullptr;
  check(bdl_predictor_create_ensemble(models.data(), posteriors.data(), method.members, method.prediction,
                                      method.prediction == BDL_MONTE_CARLO ? draws : 0, 1, &created));
  const std::unique_ptr<bdl_predictor, FreePredictor> predictor(created);
  std::vector<double> probabilities(static_cast<std::size_t>(part.count * classes));
  const bdl_status status =
      bdl_predictor_classes(created, part.x(), bdl_f64_out(probabilities.data(), part.count, classes),
                            bdl_none_out(), bdl_none_out());
  if (!finish(status)) return {};
  return probabilities;
}

}  // namespace vogn
