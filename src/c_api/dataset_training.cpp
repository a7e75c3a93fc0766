#include "bdl/dataset.h"
#include "c_api/caller_progress.hpp"
#include "c_api/convert.hpp"
#include "c_api/dataset_handle.hpp"
#include "c_api/handles.hpp"
#include "inference/batch/fit.hpp"

namespace bdl {
namespace {

/// visit(optimizer) of one that has a model, which is trained.
template <class Visit>
void with_model(bdl_optimizer* optimizer, Visit&& visit) {
  with_training(optimizer, [&](auto& o) {
    if (!o.model()) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
    visit(o);
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_fit_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t epochs,
                                     bdl_progress_fn progress, void* user_data) {
  return guard("bdl_optimizer_fit_dataset", [&] {
    Status status = Status::OK;
    with_model(optimizer, [&](auto& o) {
      o.team().check_before([&] {
        not_null(dataset, "dataset");
        check_range(epochs, 0, INT32_MAX, "epochs");
      });
      CallerProgress<bdl_optimizer> caller{progress, user_data, optimizer};
      with_rows(dataset, [&](DataSet& rows) { status = fit(o, rows, epochs, caller.progress()); });
    });
    return static_cast<bdl_status>(status);
  });
}

bdl_status bdl_optimizer_start_noise_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset) {
  return guard("bdl_optimizer_start_noise_dataset", [&] {
    with_model(optimizer, [&](auto& o) {
      with_rows(dataset, [&](DataSet& rows) {
        CheckedData checked(*o.model(), rows);
        o.start_noises(checked);
      });
    });
  });
}

bdl_status bdl_optimizer_laplace_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset) {
  return guard("bdl_optimizer_laplace_dataset", [&] {
    with_model(optimizer, [&](auto& o) {
      o.team().check_before([&] { not_null(dataset, "dataset"); });
      with_rows(dataset, [&](DataSet& rows) { laplace(o, rows); });
    });
  });
}
