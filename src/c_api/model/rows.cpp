#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

/// Fails if an optimizer or a predictor reads rows for the model already: it would read them in another form.
template <class T>
void check_unused(const std::shared_ptr<Model<T>>& model, int32_t given) {
  if (given != 0 && given != 1) fail(Status::ERROR_INVALID_ARGUMENT, "given is %d, expected 0 or 1", given);
  if (model.use_count() > 1)
    fail(Status::ERROR_UNSUPPORTED,
         "an optimizer has the model: say what rows have before you create the optimizer");
}

template <class Change>
bdl_status set_rows(const char* function, bdl_model* model, int32_t given, Change change) {
  return guard(function, [&] {
    not_null(model, "model");
    std::visit([&](const auto& object) { check_unused(object, given); }, model->object);
    with(model, "model", change);
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_row_weights(bdl_model* model, int32_t given) {
  return set_rows(__func__, model, given, [=](auto& m) { m.likelihood.set_weighted(given == 1); });
}

int32_t bdl_model_row_weights(const bdl_model* model) {
  return model && std::visit([](const auto& m) { return m->likelihood.is_weighted(); }, model->object) ? 1
                                                                                                       : 0;
}

bdl_status bdl_model_set_offsets(bdl_model* model, int32_t given) {
  return set_rows(__func__, model, given, [=](auto& m) { m.set_offsets(given == 1); });
}

int64_t bdl_model_offsets(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->offsets(); }, model->object) : 0;
}
