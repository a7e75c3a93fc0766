#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "data/minibatch.hpp"
#include "data/robust.hpp"
#include "posterior/families.hpp"
#include "train/answers.hpp"
#include "train/diagnose.hpp"
#include "train/exact/exact_fit.hpp"
#include "train/fit.hpp"
#include "train/memory.hpp"
#include "train/scales/by_evidence.hpp"

namespace bdl {
namespace {

/// Sets one option. Where that would give an invalid combination, several options must be set by one call.
template <class Value>
bdl_status set(const char* function, bdl_optimizer* optimizer, const char* name, OptionType type,
               Value value) {
  return guard(function, [&] {
    not_null(name, "name");
    with(optimizer, "optimizer", [&](auto& o) {
      Options options = o.options();
      const OptionInfo& info = find_option(name, type);
      set_option(options, info, value);
      try {
        o.check_choice(options);
      } catch (const Error& error) {
        fail(error.status(), "%s (options that only fit together must be set in one call)", error.what());
      }
      o.set_options(options, is_prior_option(info));
    });
  });
}

template <class Read>
bdl_status get(const char* function, const bdl_optimizer* optimizer, const char* name, OptionType type,
               Read&& read) {
  return guard(function, [&] {
    not_null(name, "name");
    with(optimizer, "optimizer", [&](const auto& o) { read(o.options(), find_option(name, type)); });
  });
}

/// Returns a copy of the prior in the optimizer's arithmetic.
template <class T, class Q>
std::shared_ptr<const Posterior<T>> prior_from(const Q& q) {
  if constexpr (std::is_same_v<typename Q::Scalar, T>)
    return q.clone();
  else
    return converted<T>(q);
}

template <class T>
std::shared_ptr<Optimizer<T>> new_optimizer(const bdl_model* model,
                                            const std::shared_ptr<Posterior<T>>& posterior,
                                            const Method& method, Index data_size) {
  const auto* typed = model ? std::get_if<std::shared_ptr<Model<T>>>(&model->object) : nullptr;
  return std::make_shared<Optimizer<T>>(typed ? *typed : nullptr, posterior, method, data_size);
}

/// Returns how far the farthest target is from the others if that is too far for Gaussian noise, else 0.
/// Skewed targets, such as lognormal ones, reach 100 to 1000 robust deviations; noise that depends on x suits
/// them.
double outlier_of(const Array& y, bool is_weighted) {
  ArrayData targets({}, y);
  const double farthest = farthest_of_targets(targets, {0, is_weighted});
  return farthest > 1000 ? farthest : 0;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_create(bdl_model* model, bdl_posterior* posterior, const char* method,
                                int64_t data_size, bdl_optimizer** optimizer) {
  return guard(__func__, [&] {
    not_null(posterior, "posterior");
    not_null(method, "method");
    not_null(optimizer, "optimizer");
    check_range(data_size, 1, INT64_C(1) << 52, "data_size");
    const Method& row = find_method(method);
    if (model) with_both<const bdl_model, const bdl_posterior>(model, posterior, [](auto&, auto&) {});
    const InUse use = use_of(*posterior, "posterior");  // a blank one may get other point parameters
    auto handle = std::make_unique<bdl_optimizer>();
    std::visit([&](const auto& q) { handle->object = new_optimizer(model, q, row, data_size); },
               posterior->object);
    handle->posterior = posterior->claim;
    if (model) handle->model = model->claim;
    *optimizer = handle.release();
  });
}

void bdl_optimizer_free(bdl_optimizer* optimizer) {
  free_handle(optimizer);
}

const char* bdl_optimizer_method(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->method().name; }, optimizer->object) : "";
}

int64_t bdl_optimizer_data_size(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->data_size(); }, optimizer->object) : 0;
}

bdl_status bdl_optimizer_set_double(bdl_optimizer* optimizer, const char* name, double value) {
  return set(__func__, optimizer, name, OptionType::real, value);
}

bdl_status bdl_optimizer_set_int(bdl_optimizer* optimizer, const char* name, int64_t value) {
  return set(__func__, optimizer, name, OptionType::integer, value);
}

bdl_status bdl_optimizer_set_choice(bdl_optimizer* optimizer, const char* name, const char* value) {
  if (!value) return guard(__func__, [] { fail(Status::ERROR_INVALID_ARGUMENT, "value is NULL"); });
  return set(__func__, optimizer, name, OptionType::choice, value);
}

bdl_status bdl_optimizer_set_text(bdl_optimizer* optimizer, const char* text) {
  return guard(__func__, [&] {
    not_null(text, "text");
    with(optimizer, "optimizer", [&](auto& o) {
      Options options = o.options();
      const bool has_prior = set_option_text(options, text);
      o.check_choice(options);
      o.set_options(options, has_prior);
    });
  });
}

bdl_status bdl_optimizer_get_double(const bdl_optimizer* optimizer, const char* name, double* value) {
  return get(__func__, optimizer, name, OptionType::real, [&](const Options& o, const OptionInfo& info) {
    not_null(value, "value");
    *value = o.*info.real;
  });
}

bdl_status bdl_optimizer_get_int(const bdl_optimizer* optimizer, const char* name, int64_t* value) {
  return get(__func__, optimizer, name, OptionType::integer, [&](const Options& o, const OptionInfo& info) {
    not_null(value, "value");
    *value = o.*info.integer;
  });
}

bdl_status bdl_optimizer_get_choice(const bdl_optimizer* optimizer, const char* name, const char** value) {
  return get(__func__, optimizer, name, OptionType::choice, [&](const Options& o, const OptionInfo& info) {
    not_null(value, "value");
    *value = choice_word(info, info.choice(o));
  });
}

bdl_status bdl_optimizer_set_prior(bdl_optimizer* optimizer, bdl_matrix precision) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    const Index dimension = o.posterior()->dimension();
    const Buffer<T> values = gathered_precision<T>(precision, dimension, "precision");
    o.set_prior(values.first(dimension));
  });
}

bdl_status bdl_optimizer_set_prior_posterior(bdl_optimizer* optimizer, const bdl_posterior* prior) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    with(prior, "prior", [&](const auto& q) {
      if (!q.has_covariance())
        fail(Status::ERROR_UNSUPPORTED,
             "prior is a mode, which has no covariance: learn it by method \"laplace\", for example");
      o.set_prior(prior_from<T>(q));
    });
  });
}

bdl_status bdl_optimizer_get_prior(const bdl_optimizer* optimizer, bdl_matrix_out precision) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    const Index dimension = o.posterior()->dimension();
    check_output(precision, 1, dimension, "precision");
    o.read_prior([&](const Prior<T>& prior) {
      write_result<T>({prior.precision().data(), dimension, 1}, precision, "precision");
    });
  });
}

bdl_status bdl_noise_suggest(const bdl_optimizer* optimizer, int32_t in_blocks, int64_t prior_parameters,
                             bdl_matrix y, bdl_likelihood* noise, double* distance) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    not_null(noise, "noise");
    check_range(prior_parameters, 0, largest_size, "prior_parameters");
    const auto& model = model_of(o);
    const Likelihood& likelihood = model.likelihood;
    if (!likelihood.has_noise_precision())
      fail(Status::ERROR_UNSUPPORTED, "the model's targets have no noise: it is for real numbers");
    if (given(y)) likelihood.check_targets(y, y.rows, "y", true);
    const bool learns = prior_parameters == 0 && !in_blocks && learns_by_evidence(o);
    const double outlier = learns && given(y) ? outlier_of(y, likelihood.is_weighted()) : 0;
    if (prior_parameters > 0)
      *noise = prior_parameters == model.parameters() ? likelihood.kind() : BDL_HETEROSCEDASTIC;
    else
      *noise = outlier > 0 ? BDL_STUDENT_T : learns ? BDL_HETEROSCEDASTIC : BDL_GAUSSIAN;
    if (distance) *distance = outlier;
  });
}

bdl_status bdl_optimizer_minibatch(const bdl_optimizer* optimizer, int64_t* examples) {
  return guard(__func__, [&] {
    not_null(examples, "examples");
    with(optimizer, "optimizer",
         [&](const auto& o) { *examples = minibatch_size(o.options(), o.data_size()); });
  });
}

bdl_status bdl_optimizer_memory(const bdl_optimizer* optimizer, int64_t minibatch, int64_t* bytes) {
  return guard(__func__, [&] {
    not_null(bytes, "bytes");
    with(optimizer, "optimizer", [&](const auto& o) {
      check_range(minibatch, 0, row_limit, "minibatch");
      if (o.method().kind == MethodKind::exact) model_of(o);
      *bytes = memory_estimate(o, minibatch > 0 ? minibatch : minibatch_size(o.options(), o.data_size()));
    });
  });
}

bdl_status bdl_optimizer_noise(const bdl_optimizer* optimizer, int32_t* is_exact, const char** text) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    const auto& noise = o.noise_text();
    if (is_exact) *is_exact = noise.is_exact ? 1 : 0;
    if (text) *text = noise.text.c_str();
  });
}

bdl_status bdl_optimizer_diagnose(const bdl_optimizer* optimizer, double* mean_shift, double* precision_shift,
                                  const char** message) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    const Diagnosis diagnosis = diagnose(o);
    if (mean_shift) *mean_shift = diagnosis.mean_shift;
    if (precision_shift) *precision_shift = diagnosis.precision_shift;
    if (message) *message = diagnosis.message;
  });
}

bdl_status bdl_optimizer_diagnose_answers(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                          double* spread, const char** message) {
  return interruptible_guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    ArrayData data = checked_data(model_of(o), x, y, Missing::allowed);
    const double found = spread_of_answers(o, data);
    if (spread) *spread = found;
    if (message) *message = answers_advice(o, found);
  });
}
