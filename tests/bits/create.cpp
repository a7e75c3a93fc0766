#include "bits/create.hpp"

#include "bits/user_model.hpp"

namespace bits {
namespace {

bdl_status create_model(const Problem& problem, bdl_dtype dtype, Model& model) {
  bdl_model* handle = nullptr;
  const bdl_model_callbacks callbacks{sizeof callbacks, user_outputs, user_gradients, nullptr, nullptr};
  const bdl_status status =
      problem.description ? bdl_model_create_network(dtype, problem.description, problem.likelihood, &handle)
      : problem.sizes.empty()
          ? bdl_model_create_user(dtype, user_inputs, 1, user_parameters, problem.likelihood, &callbacks,
                                  &handle)
          : bdl_model_create_mlp(dtype, problem.sizes.data(), static_cast<std::int32_t>(problem.sizes.size()),
                                 problem.activation, 1, problem.likelihood, &handle);
  model.reset(handle);
  return status;
}

bdl_status create_posterior(const Family& family, bdl_dtype dtype, const bdl_model* model,
                            Posterior& posterior) {
  const std::int64_t dimension = bdl_model_parameters(model);
  bdl_posterior* handle = nullptr;
  bdl_status status = BDL_ERROR_INTERNAL;
  switch (family.kind) {
    case BDL_LOW_RANK:
      status = bdl_posterior_create_low_rank(dtype, dimension, family.rank, &handle);
      break;
    case BDL_FULL:
      status = bdl_posterior_create_full(dtype, dimension, &handle);
      break;
    case BDL_FULL_MOMENT:
      status = bdl_posterior_create_full_moment(dtype, dimension, &handle);
      break;
    case BDL_DIAGONAL_MOMENT:
      status = bdl_posterior_create_diagonal_moment(dtype, dimension, &handle);
      break;
    case BDL_LAYERWISE_FULL:
      status = bdl_posterior_create_layerwise_full(model, &handle);
      break;
    case BDL_LOW_RANK_MOMENT:
      status = bdl_posterior_create_low_rank_moment(dtype, dimension, family.rank, &handle);
      break;
    case BDL_LAYERWISE_LOW_RANK_MOMENT:
      status = bdl_posterior_create_layerwise_low_rank_moment(model, family.rank, &handle);
      break;
    case BDL_KRONECKER:
      status = bdl_posterior_create_kronecker(model, &handle);
      break;
    case BDL_DROPOUT:
      status = bdl_posterior_create_dropout(model, 0.125, 0.25, &handle);
      break;
    case BDL_FAMILY_FORCE_INT32:
      break;
  }
  posterior.reset(handle);
  return status;
}

}  // namespace

bdl_status Learner::create(const Problem& problem, const Family& family, bdl_dtype dtype,
                           const char* method) {
  bdl_optimizer* handle = nullptr;
  bdl_status status = create_model(problem, dtype, model);
  if (status == BDL_OK) status = create_posterior(family, dtype, model.get(), posterior);
  if (status == BDL_OK)
    status = bdl_optimizer_create(model.get(), posterior.get(), method, problem.x.rows, &handle);
  optimizer.reset(handle);
  return status;
}

}  // namespace bits
