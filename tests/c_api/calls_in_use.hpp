// Calls that callbacks make on the handles of the call that they are part of: every public function that
// would write to one of them, which must be refused and change nothing, and functions that read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "handles.hpp"

/// Handles in use by a call, and what callbacks have found. Assertions are for when it has returned.
struct Interference {
  // Null: not in use.
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  bdl_search* search = nullptr;
  bdl_predictor* predictor = nullptr;
  bdl_dataset* dataset = nullptr;

  const bdl_search* idle_search = nullptr;                ///< whose values could be applied
  const char* wanted = "in use by the call in progress";  ///< in each message
  std::string file, bytes;                                ///< a checkpoint, for what loads one
  std::map<std::string, int> callbacks;                   ///< how often each was called
  std::set<std::string> refused;                          ///< functions
  int64_t calls = 0;
  std::string problem;  ///< the first

  void broken(const std::string& what) {
    if (problem.empty()) problem = what;
  }
  void check() const {
    if (!problem.empty()) fail_msg("%s", problem.c_str());
  }
  void write_to_all();
  void read_all();
};

/// Some argument of the type, which nothing is wrong with before the handle is looked at.
template <class T>
T argument(Interference& to) {
  static double numbers[64];
  static int64_t integers[2];
  static const char* const names[] = {"mean"};
  static const bdl_matrix matrices[] = {bdl_f64(numbers, 1, 1)};
  for (double& number : numbers) number = 0.5;
  if constexpr (std::is_same_v<T, bdl_model*> || std::is_same_v<T, const bdl_model*>)
    return to.model;
  else if constexpr (std::is_same_v<T, bdl_posterior*> || std::is_same_v<T, const bdl_posterior*>)
    return to.posterior;
  else if constexpr (std::is_same_v<T, bdl_optimizer*> || std::is_same_v<T, const bdl_optimizer*>)
    return to.optimizer;
  else if constexpr (std::is_same_v<T, bdl_search*>)
    return to.search;
  else if constexpr (std::is_same_v<T, const bdl_search*>)
    return to.idle_search;
  else if constexpr (std::is_same_v<T, bdl_predictor*>)
    return to.predictor;
  else if constexpr (std::is_same_v<T, bdl_dataset*>)
    return to.dataset;
  else if constexpr (std::is_same_v<T, bdl_matrix>)
    return matrices[0];
  else if constexpr (std::is_same_v<T, bdl_matrix_out>)
    return bdl_f64_out(numbers + 1, 1, 1);
  else if constexpr (std::is_same_v<T, const bdl_matrix*>)
    return matrices;
  else if constexpr (std::is_same_v<T, const char*>)
    return to.file.c_str();
  else if constexpr (std::is_same_v<T, const void*>)
    return to.bytes.data();
  else if constexpr (std::is_same_v<T, const char* const*>)
    return names;
  else if constexpr (std::is_same_v<T, const int64_t*>)
    return integers;
  else if constexpr (std::is_same_v<T, double>)
    return 0.5;
  else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
    return static_cast<T>(1);
  else if constexpr (std::is_same_v<T, bdl_model**> || std::is_same_v<T, bdl_posterior**> ||
                     std::is_same_v<T, bdl_optimizer**>) {
    static std::remove_pointer_t<T> made;
    return made = nullptr, &made;
  } else {
    return T{};
  }
}

/// True if a function that takes it would write to a handle that is in use.
template <class T>
bool would_write(const Interference& to) {
  if constexpr (std::is_same_v<T, bdl_model*>) return to.model != nullptr;
  if constexpr (std::is_same_v<T, bdl_posterior*>) return to.posterior != nullptr;
  if constexpr (std::is_same_v<T, bdl_optimizer*>) return to.optimizer != nullptr;
  if constexpr (std::is_same_v<T, bdl_search*>) return to.search != nullptr;
  if constexpr (std::is_same_v<T, bdl_predictor*>) return to.predictor != nullptr;
  return false;
}

inline void expect_refused(Interference& to, const std::string& name, bdl_status status) {
  const std::string message = bdl_last_error();
  ++to.calls;
  to.refused.insert(name);
  if (status != BDL_ERROR_INVALID_ARGUMENT || !message.starts_with(name + ": ") ||
      message.find(to.wanted) == std::string::npos)
    to.broken(name + " in a callback gave " + bdl_status_name(status) + ": " + message);
}

template <class... Arguments>
void try_to_write(Interference& to, const std::string& name, bdl_status (*function)(Arguments...)) {
  if (name == "bdl_load_bytes" || name == "bdl_optimizer_create")
    return;  // whose texts and sizes mean something
  if ((false || ... || would_write<Arguments>(to)))
    expect_refused(to, name, function(argument<Arguments>(to)...));
}

inline void Interference::write_to_all() {
#define NAMED(function) try_to_write(*this, #function, function);
#include "fallible.def"
#undef NAMED
  bdl_model* loaded = nullptr;
  bdl_optimizer* made = nullptr;
  if (posterior)
    expect_refused(*this, "bdl_optimizer_create",
                   bdl_optimizer_create(model, posterior, "slang-ggn", 12, &made));
  if (model)
    expect_refused(
        *this, "bdl_load_bytes",
        bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), model, &loaded, nullptr, nullptr));
}

/// Makes calls that give the same results in every callback between two steps, and are safe in any callback.
inline void Interference::read_all() {
  int64_t size = 0, step = 0, memory = 0;
  double a = 0, b = 0;
  const char* text = nullptr;
  if (posterior) {
    const int64_t dimension = bdl_posterior_dimension(posterior);
    Vector numbers(static_cast<std::size_t>(dimension));
    const bdl_matrix_out row = bdl_f64_out(numbers.data(), 1, dimension);
    if (bdl_posterior_mean(posterior, row) != BDL_OK) broken(bdl_last_error());
    bdl_posterior_precision_diagonal(posterior, row);
    bdl_posterior_marginal_variance(posterior, row);
    bdl_posterior_sample(posterior, 1, 0, row);
    bdl_posterior_entropy(posterior, &a);
    bdl_posterior* copy = nullptr;
    if (bdl_posterior_copy(posterior, &copy) != BDL_OK) broken(bdl_last_error());
    bdl_posterior_free(copy);
  }
  if (optimizer) {
    bdl_optimizer_progress(optimizer, &step, nullptr, &a);
    bdl_optimizer_running_elbo(optimizer, &a, &b);
    bdl_optimizer_diagnose(optimizer, &a, &b, &text);
    bdl_optimizer_memory(optimizer, 3, &memory);
    bdl_save_bytes(nullptr, nullptr, optimizer, nullptr, 0, &size);
  }
  if (model && posterior) {
    Vector numbers(8);
    bdl_predict(model, posterior, bdl_f64(numbers.data(), 1, bdl_model_inputs(model)), BDL_PLUG_IN, 1, 1,
                bdl_f64_out(numbers.data() + 4, 1, bdl_model_targets(model)), bdl_none_out(), bdl_none_out());
  }
}
