#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

/// Changes what rows have, unless an optimizer or a predictor reads rows for the model already: it would read
/// them in another form.
template <class Change>
bdl_status set_rows(const char* function, bdl_model* model, int32_t given, Change change) {
  return guard(function, model, "model", [&](auto& m) {
    if (given != 0 && given != 1) fail(Status::ERROR_INVALID_ARGUMENT, "given is %d, expected 0 or 1", given);
    if (std::visit([](const auto& object) { return object.use_count() > 1; }, model->object))
      fail(Status::ERROR_UNSUPPORTED,
           "an optimizer has the model: say what rows have before you create the optimizer");
    change(m);
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_row_weights(bdl_model* model, int32_t given) {
  return set_rows(__func__, model, given, [=](auto& m) { m.likelihood.set_weighted(given == 1); });
}

int32_t bdl_model_has_row_weights(const bdl_model* model) {
  return model && std::visit([](const auto& m) { return m->likelihood.is_weighted(); }, model->object) ? 1
                                                                                                       : 0;
}

bdl_status bdl_model_set_offsets(bdl_model* model, int32_t given) {
  return set_rows(__func__, model, given, [=](auto& m) { m.set_offsets(given == 1); });
}

int64_t bdl_model_offset_count(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->offsets(); }, model->object) : 0;
}
