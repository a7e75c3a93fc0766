#include "fuzz/api/session.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/getters.hpp"
#include "fuzz/api/hash.hpp"
#include "fuzz/load_any.hpp"

namespace fuzz {
namespace {

int32_t go_on(void*) {
  return 0;
}

/// On a file system in memory, where there is one: nothing here needs a disk.
std::string temporary_file() {
  struct stat found;
  const char* folder = stat("/dev/shm", &found) == 0 ? "/dev/shm" : "/tmp";
  return std::string(folder) + "/bdl-fuzz-" + std::to_string(getpid());
}

}  // namespace

Session::Session(const std::uint8_t* data, std::size_t size, const Setting& setting)
    : bytes(data, size), file(temporary_file()), setting_(setting) {
  bdl_set_interrupt(go_on, nullptr);
}

Session::~Session() {
  bdl_set_interrupt(nullptr, nullptr);
  for (const std::string& path : {file, x_file(), y_file()}) unlink(path.c_str());
}

void Session::broken(const std::string& what) const {
  if (on_broken) on_broken(std::string(function_) + ": " + what);
  std::fprintf(stderr, "%s: %s\nlast error: %s\n", function_, what.c_str(), bdl_last_error());
  std::abort();
}

std::uint64_t Session::run() {
  // A model, a posterior and an optimizer, so that most calls have something to do.
  static constexpr const char* model_calls[] = {"bdl_model_create_network", "bdl_model_create_mlp",
                                                "bdl_model_create_network", "bdl_model_create_user"};
  static constexpr const char* posterior_calls[] = {
      "bdl_posterior_create_low_rank",        "bdl_posterior_create_full",
      "bdl_posterior_create_full_moment",     "bdl_posterior_create_diagonal_moment",
      "bdl_posterior_create_dropout",         "bdl_posterior_create_layerwise_full",
      "bdl_posterior_create_low_rank_moment", "bdl_posterior_create_layerwise_low_rank_moment",
      "bdl_posterior_create_kronecker"};
  begin(index_of(bytes.one_of(model_calls)), 0);
  begin(index_of(bytes.one_of(posterior_calls)), 0);
  begin(index_of("bdl_optimizer_create"), 0);
  if (bytes.below(6) == 5) {
    begin(index_of("bdl_search_create"), 0);
    begin(index_of("bdl_search_add_double"), 0);
    begin(index_of("bdl_search_run"), 0);
  }
  for (int calls = 0; calls < 60 && !bytes.empty(); ++calls) {
    const std::uint8_t function = bytes.next();
    begin(function % call_count(), bytes.next());
  }
  function_ = "the end";
  for (auto& slot : models) hash_of_saved(slot);
  for (auto& slot : posteriors) hash_of_saved(slot);
  for (auto& slot : optimizers) hash_of_saved(slot);
  models.clear(), posteriors.clear(), optimizers.clear(), predictors.clear(), searches.clear(),
      datasets.clear();
  if (callbacks.owned != 0) broken("user_data that was not destroyed once");
  return hash_;
}

template <class Handle>
void Session::hash_of_saved(Slot<Handle>& slot) {
  if (!slot.handle) return;
  const std::string now = saved(slot.handle);
  hash_ = hash_of(hash_, now.data(), now.size());
}

void Session::begin(std::size_t index, std::uint8_t flavour) {
  const Call& call = call_at(index);
  function_ = call.name;
  index_ = index;
  faulty_ = flavour >= 176;
  failing_allocation_ = setting_.allocations_fail && flavour % 2 == 1 ? 1 + flavour % 64 : 0;
  ++calls_made[index];
  call.make(*this);
  arrays.clear();
  ask_getters();
  const auto untouch = [](auto& slots) {
    for (auto& slot : slots) slot.touched = false;
  };
  untouch(models), untouch(posteriors), untouch(optimizers), untouch(predictors), untouch(searches),
      untouch(datasets);
}

void Session::finish(Change change, bdl_status status) {
  const bool memory_failed = failing_allocation_ > 0;
  failing_allocation_ = 0;
  if (status < BDL_OK || status > BDL_ERROR_COMMUNICATION || status == BDL_ERROR_INTERNAL)
    broken(bdl_status_name(status));
  hash_ = hash_of(hash_, &status, sizeof status);
  if (status == BDL_OK) {
    ++calls_succeeded[index_];
    if (const std::string problem = arrays.written(); !problem.empty()) broken("BDL_OK with " + problem);
  } else {
    if (const std::string problem = arrays.untouched(); !problem.empty())
      broken("a failure has written " + problem);
    if (status == BDL_ERROR_OUT_OF_MEMORY && !memory_failed && !faulty_) broken("out of memory");
    const char* message = bdl_last_error();
    const std::size_t length = std::strlen(function_);
    if (status != BDL_STOPPED && (std::strncmp(message, function_, length) != 0 ||
                                  std::strncmp(message + length, ": ", 2) != 0 || !message[length + 2]))
      broken(std::string(bdl_status_name(status)) + " without a message of its own");
    if (status != BDL_STOPPED) hash_ = hash_of(hash_, message, std::strlen(message));
  }
  hash_ = arrays.hash(hash_);
  if (trace)
    std::fprintf(stderr, "%s: %s %016llx\n", function_, bdl_status_name(status),
                 static_cast<unsigned long long>(hash_));
  const bool went_on =
      status == BDL_OK ||
      (change >= Change::in_part &&
       (status == BDL_STOPPED || status == BDL_ERROR_DIVERGED || status == BDL_ERROR_CALLBACK ||
        status == BDL_ERROR_OUT_OF_MEMORY || status == BDL_ERROR_COMMUNICATION)) ||
      (change == Change::in_part_of_rows && (status == BDL_ERROR_LABEL || status == BDL_ERROR_NOT_FINITE));
  if (change == Change::none || !went_on)
    verify_unchanged();
  else
    forget();
  arrays.clear();
}

/// Calls the getters of optimizers that are new or have changed.
void Session::ask_getters() {
  for (auto& slot : optimizers) {
    if (!slot.handle || slot.asked) continue;
    if (const std::string problem = problem_of_getters(slot.handle, hash_); !problem.empty())
      broken("then " + problem);
    slot.asked = true;
  }
}

void Session::verify_unchanged() {
  const auto verify = [this](auto& slots) {
    for (auto& slot : slots)
      if (slot.touched && slot.known && slot.handle && saved(slot.handle) != slot.saved)
        broken("a handle has changed");
  };
  verify(models), verify(posteriors), verify(optimizers), verify(predictors), verify(searches),
      verify(datasets);
}

void Session::forget() {
  const auto all = [](auto& slots) {
    for (auto& slot : slots) slot.known = slot.asked = false;
  };
  all(models), all(posteriors), all(optimizers), all(predictors), all(searches), all(datasets);
  for (auto& slot : optimizers)
    if (slot.handle) tame(slot.handle);
}

/// Options that cost time, back to what a fuzzer can wait for.
void Session::tame(bdl_optimizer* optimizer) const {
  if (!tamed(optimizer)) broken("a smaller value of an option is refused");
}

Slot<bdl_posterior>& Session::posterior_for(const Shape& shape) {
  if (faulty()) return pick(posteriors);
  const std::int64_t from = bytes.below(5);
  for (std::int64_t k = 0; k < 5; ++k) {
    Slot<bdl_posterior>& slot = posteriors[from + k];
    if (!slot.handle || bdl_posterior_dimension(slot.handle) != shape.parameters ||
        bdl_posterior_dtype(slot.handle) != shape.dtype)
      continue;
    touch(slot);
    return slot;
  }
  return pick(posteriors);
}

bdl_matrix Session::y(const Shape& shape, std::int64_t rows) {
  constexpr Kind kinds[] = {Kind::real,  Kind::real, Kind::binary, Kind::label,
                            Kind::count, Kind::real, Kind::real};
  return in(rows, shape.targets, kinds[shape.likelihood >= 1 && shape.likelihood <= 6 ? shape.likelihood : 0],
            shape.outputs);
}

double Session::number() {
  static constexpr double plain[] = {0, 0.1, 0.5, 1, 0.02, 2, 0.9, 1e-3};
  static constexpr double odd[] = {-1, 1e300, -1e300, 1e-300, INFINITY, -INFINITY, NAN, 1e6};
  return faulty() ? bytes.one_of(odd) : bytes.one_of(plain);
}

void Session::keep(bdl_model* model) {
  if (!model) return;
  const Shape shape = shape_of(model);
  if (shape.parameters > 300 || shape.inputs > 200 || shape.outputs > 20) return bdl_model_free(model);
  models.room(bytes.below(4)) = {model, shape, {}, false, false, false};
}

void Session::keep(bdl_posterior* posterior, const Shape& shape) {
  if (!posterior) return;
  if (bdl_posterior_dimension(posterior) > 300) return bdl_posterior_free(posterior);
  posteriors.room(bytes.below(5)) = {posterior, shape, {}, false, false, false};
}

void Session::keep(bdl_optimizer* optimizer, const Shape& shape) {
  if (!optimizer) return;
  if (!tamed(optimizer)) return bdl_optimizer_free(optimizer);
  if (setting_.shards > 0)
    (void)bdl_optimizer_set_int(optimizer, "shards", setting_.shards);  // but of streams
  optimizers.room(bytes.below(3)) = {optimizer, shape, {}, false, false, false};
}

void Session::keep(bdl_predictor* predictor, const Shape& shape) {
  if (predictor) predictors.room(bytes.below(2)) = {predictor, shape, {}, false, false, false};
}

void Session::keep(bdl_search* search, const Shape& shape) {
  if (search) searches.room(0) = {search, shape, {}, false, false, false};
}

void Session::keep(bdl_dataset* dataset) {
  if (dataset) datasets.room(bytes.below(3)) = {dataset, {}, {}, false, false, false};
}

}  // namespace fuzz
