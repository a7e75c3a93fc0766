// Checks any text that is given as options.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "bdl/bdl.h"
#include "fuzz/load_any.hpp"

namespace fuzz {

/// An optimizer of the method, with a posterior that it is for.
inline bool create(const char* method, Parts& parts) {
  const std::int64_t sizes[] = {2, 1};
  if (bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_RELU, 1, BDL_GAUSSIAN, &parts.model) != BDL_OK)
    return false;
  for (int family = 0; family < 7; ++family) {
    bdl_posterior*& q = parts.posterior;
    const bdl_status status = family == 0   ? bdl_posterior_create_low_rank(BDL_F64, 3, 1, &q)
                              : family == 1 ? bdl_posterior_create_low_rank(BDL_F64, 3, 0, &q)
                              : family == 2 ? bdl_posterior_create_full(BDL_F64, 3, &q)
                              : family == 3
                                  ? bdl_posterior_create_layerwise_low_rank_moment(parts.model, 2, &q)
                              : family == 4 ? bdl_posterior_create_low_rank_moment(BDL_F64, 3, 2, &q)
                              : family == 5 ? bdl_posterior_create_dropout(parts.model, 0.1, 0.1, &q)
                                            : bdl_posterior_create_kronecker(parts.model, &q);
    if (status != BDL_OK) return false;
    if (bdl_optimizer_create(parts.model, q, method, 10, &parts.optimizer) == BDL_OK) return true;
    bdl_posterior_free(q);
    q = nullptr;
  }
  return false;
}

/// All options as text that sets them.
inline std::string text_of(const bdl_optimizer* o) {
  std::string text;
  for (std::int64_t i = 0; i < bdl_option_count(); ++i) {
    const char *name = "", *word = "";
    bdl_option_type type{};
    double real = 0;
    std::int64_t whole = 0;
    char number[40] = "";
    bdl_option_describe(i, &name, &type, nullptr, nullptr, nullptr);
    if (type == BDL_OPTION_CHOICE && bdl_optimizer_get_choice(o, name, &word) != BDL_OK) return "";
    if (type == BDL_OPTION_INT && bdl_optimizer_get_int(o, name, &whole) != BDL_OK) return "";
    if (type == BDL_OPTION_DOUBLE && bdl_optimizer_get_double(o, name, &real) != BDL_OK) return "";
    if (type == BDL_OPTION_INT) std::snprintf(number, sizeof number, "%lld", static_cast<long long>(whole));
    if (type == BDL_OPTION_DOUBLE) std::snprintf(number, sizeof number, "%.17g", real);
    text += std::string(text.empty() ? "" : " ") + name + "=" + (type == BDL_OPTION_CHOICE ? word : number);
  }
  return text;
}

/// Accepted, when they can be read and set again; or refused with a message, and nothing has changed. The
/// first byte is the method.
inline bool options_are_right(std::string_view input) {
  if (input.empty()) return true;
  const std::string text(input.substr(1));
  const char* method = bdl_method_name(static_cast<unsigned char>(input[0]) % bdl_method_count());
  Parts parts, again;
  if (!create(method, parts) || !create(method, again)) return false;
  const std::string before = text_of(parts.optimizer);
  const bdl_status status = bdl_optimizer_set_text(parts.optimizer, text.c_str());
  const std::string after = text_of(parts.optimizer);
  if (status == BDL_OK)
    return bdl_optimizer_set_text(again.optimizer, after.c_str()) == BDL_OK &&
           text_of(again.optimizer) == after && saved(again) == saved(parts);
  const std::string message = bdl_last_error();
  return (status == BDL_ERROR_INVALID_ARGUMENT || status == BDL_ERROR_UNKNOWN_OPTION ||
          status == BDL_ERROR_UNSUPPORTED || status == BDL_ERROR_NOT_FINITE || status == BDL_ERROR_SHAPE) &&
         before == after && message.rfind("bdl_optimizer_set_text: ", 0) == 0 && message.size() > 24;
}

}  // namespace fuzz
