// One sequence of calls of the public API, and what must hold after each: a status that the header knows,
// results that are finite and whole or untouched, an error message that begins with the function's name, and
// after a failure handles that save to the same bytes as before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "c_api/failing_allocations.hpp"
#include "fuzz/api/arrays.hpp"
#include "fuzz/api/hash.hpp"
#include "fuzz/api/slots.hpp"

namespace fuzz {

/// Arguments of a call, evaluated from left to right, as those in braces are.
template <class... A>
struct With {
  std::tuple<A...> values;
  With(A... arguments) : values(arguments...) {}  // NOLINT(google-explicit-constructor)
};

enum class Change {
  none,            ///< reads its handles
  on_success,      ///< a failure leaves them as they were
  in_part,         ///< training: completed steps stay
  in_part_of_rows  ///< and what is wrong with the data is found out on the way
};

/// Told what does not hold. It ends the process, or throws.
using Broken = void (*)(const std::string& what);
inline Broken on_broken = nullptr;  ///< NULL: prints it and aborts
inline bool trace = false;          ///< print each call, its status, and the hash of all results so far

class Session {
 public:
  /// Settings of all calls of a session.
  struct Setting {
    bool allocations_fail = false;
    std::int64_t shards = 0;  ///< of new optimizers; 0: as options say
  };
  Session(const std::uint8_t* data, std::size_t size, const Setting& setting);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// All calls; what they gave, as a hash.
  std::uint64_t run();

  /// The user data of the caller's functions, of which one fails after `until_failure` others.
  struct Callbacks {
    int until_failure = -1, failures = 0, asked = 0;
    int owned =
        0;  ///< times that user_data was handed over with a function to destroy it, less calls of that
    Session* session = nullptr;
    bdl_optimizer* in_use = nullptr;  ///< of the call in progress, where its callbacks interfere with it
    int interfered = 0;
  } callbacks;

  Bytes bytes;
  Arrays arrays;
  Slots<bdl_model, 4> models;
  Slots<bdl_posterior, 5> posteriors;
  Slots<bdl_optimizer, 3> optimizers;
  Slots<bdl_predictor, 2> predictors;
  Slots<bdl_search, 1> searches;
  Slots<bdl_dataset, 3> datasets;

  // Arguments. Those of a faulty call may be wrong.
  bool faulty() { return faulty_ && bytes.below(4) == 0; }
  Slot<bdl_model>& model() { return pick(models); }
  Slot<bdl_posterior>& posterior() { return pick(posteriors); }
  Slot<bdl_optimizer>& optimizer() { return pick(optimizers); }
  Slot<bdl_predictor>& predictor() { return pick(predictors); }
  Slot<bdl_search>& search() { return pick(searches); }
  Slot<bdl_dataset>& dataset() { return pick(datasets); }
  /// One that fits the model, if there is one.
  Slot<bdl_posterior>& posterior_for(const Shape& shape);

  bdl_matrix in(std::int64_t rows, std::int64_t cols, Kind kind = Kind::real, std::int64_t classes = 1) {
    return arrays.in(bytes, faulty_, rows, cols, kind, classes);
  }
  bdl_matrix_out out(std::int64_t rows, std::int64_t cols, Finite finite = Finite::yes) {
    return arrays.out(bytes, faulty_, rows, cols, finite);
  }
  /// As out(), or none.
  bdl_matrix_out perhaps(std::int64_t rows, std::int64_t cols, Finite finite = Finite::yes) {
    return bytes.below(4) == 0 ? bdl_none_out() : out(rows, cols, finite);
  }
  bdl_matrix x(const Shape& shape, std::int64_t rows) { return in(rows, shape.inputs); }
  bdl_matrix y(const Shape& shape, std::int64_t rows);
  /// A place for one result, or NULL.
  double* real(Finite finite = Finite::yes) { return faulty() ? nullptr : arrays.real(finite); }
  std::int64_t* integer() { return faulty() ? nullptr : arrays.integer(); }
  std::int32_t* small_integer() { return faulty() ? nullptr : arrays.small_integer(); }
  const char** text() { return faulty() ? nullptr : arrays.text(); }
  /// A number of a few, or one that is out of range.
  std::int64_t size(std::int64_t most) { return faulty() ? bytes.one_of(odd_sizes) : 1 + bytes.below(most); }
  std::int64_t index(std::int64_t count) { return faulty() ? bytes.one_of(odd_sizes) : bytes.below(count); }
  template <class Enum>
  Enum choice(int count) {
    return static_cast<Enum>(faulty() ? 256 * bytes.below(3) : 1 + bytes.below(count));
  }
  double number();  ///< of any size
  std::uint64_t seed() { return bytes.below(3); }

  // Calls.
  template <class F, class Arguments>
  bdl_status reads(F function, const Arguments& arguments) {
    return call(Change::none, function, arguments.values);
  }
  template <class F, class Arguments>
  bdl_status changes(F function, const Arguments& arguments) {
    return call(Change::on_success, function, arguments.values);
  }
  template <class F, class Arguments>
  bdl_status trains(F function, const Arguments& arguments) {
    return call(Change::in_part, function, arguments.values);
  }
  /// Training on a data set, whose rows are checked when they are read.
  template <class F, class Arguments>
  bdl_status trains_on_rows(F function, const Arguments& arguments) {
    return call(Change::in_part_of_rows, function, arguments.values);
  }
  /// A function whose last argument receives a handle; NULL if it failed. The caller gives it a slot.
  template <class Handle, class F, class... A>
  Handle* creates(F function, const With<A...>& arguments, Change change = Change::none) {
    Handle* handle = nullptr;
    if (faulty()) {  // nowhere to put it
      call(change, function, std::tuple_cat(arguments.values, std::tuple(static_cast<Handle**>(nullptr))));
      return nullptr;
    }
    const bdl_status status = call(change, function, std::tuple_cat(arguments.values, std::tuple(&handle)));
    if ((status == BDL_OK) != (handle != nullptr)) broken("a status and a handle that do not go together");
    return handle;
  }
  /// A function that cannot fail and returns a number or a text.
  template <class F, class Arguments>
  auto asks(F function, const Arguments& arguments);
  template <class F, class Handle>
  void frees(F function, Slot<Handle>& slot) {
    Handle* handle = slot.handle;
    slot = {};
    does(function, With{handle});
  }
  /// A function that returns nothing.
  template <class F, class Arguments>
  void does(F function, const Arguments& arguments);

  void keep(bdl_model* model);
  void keep(bdl_posterior* posterior, const Shape& shape);
  void keep(bdl_optimizer* optimizer, const Shape& shape);
  void keep(bdl_predictor* predictor, const Shape& shape);
  void keep(bdl_search* search, const Shape& shape);
  void keep(bdl_dataset* dataset);

  [[noreturn]] void broken(const std::string& what) const;

  std::string file;  ///< a path to write to
  std::string x_file() const { return file + "-x"; }
  std::string y_file() const { return file + "-y"; }

 private:
  static constexpr std::int64_t odd_sizes[] = {0, -1, INT64_MIN, 257, INT64_MAX, -7};
  template <class Handle, std::size_t count>
  Slot<Handle>& pick(Slots<Handle, count>& slots);
  template <class Handle>
  void touch(Slot<Handle>& slot);
  template <class F, class Arguments>
  bdl_status call(Change change, F function, const Arguments& arguments);
  void finish(Change change, bdl_status status);
  void ask_getters();
  void verify_unchanged();
  void forget();
  void begin(std::size_t index, std::uint8_t flavour);
  template <class Handle>
  void hash_of_saved(Slot<Handle>& slot);
  void tame(bdl_optimizer* optimizer) const;

  const char* function_ = "";
  std::size_t index_ = 0;
  Setting setting_;
  bool faulty_ = false;
  std::int64_t failing_allocation_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// ---- what is a template ----

template <class Handle, std::size_t count>
Slot<Handle>& Session::pick(Slots<Handle, count>& slots) {
  static Slot<Handle> none;
  none = {};
  if (faulty()) return none;
  const std::int64_t from = bytes.below(count);
  for (std::size_t k = 0; k < count; ++k) {
    Slot<Handle>& slot = slots[from + static_cast<std::int64_t>(k)];
    if (!slot.handle) continue;
    touch(slot);
    return slot;
  }
  return none;
}

template <class Handle>
void Session::touch(Slot<Handle>& slot) {
  if (!slot.known) slot.saved = saved(slot.handle);
  slot.known = slot.touched = true;
}

template <class F, class Arguments>
bdl_status Session::call(Change change, F function, const Arguments& arguments) {
  if (failing_allocation_ > 0) allocator::arm(failing_allocation_, failing_allocation_);
  const bdl_status status = std::apply(function, arguments);
  allocator::disarm();
  finish(change, status);
  return status;
}

template <class F, class Arguments>
auto Session::asks(F function, const Arguments& arguments) {
  const auto value = std::apply(function, arguments.values);
  if constexpr (std::is_same_v<decltype(value), const char* const>) {
    if (value) hash_ = hash_of(hash_, value, std::strlen(value));
  } else {
    hash_ = hash_of(hash_, &value, sizeof value);
  }
  finish(Change::none, BDL_OK);
  return value;
}

template <class F, class Arguments>
void Session::does(F function, const Arguments& arguments) {
  std::apply(function, arguments.values);
  finish(Change::on_success, BDL_OK);
}

}  // namespace fuzz
