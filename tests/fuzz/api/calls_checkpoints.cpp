#include <cstdio>
#include <vector>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// Handles to save: an optimizer, or model and posterior, or one of these.
struct Parts {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;

  explicit Parts(Session& s) {
    const std::int64_t which = s.bytes.below(5);
    if (which == 0 || which == 4) optimizer = s.optimizer().handle;
    if (which == 4 && !s.faulty()) return;
    if (which > 0 && which != 2) model = s.model().handle;
    if (which > 1) posterior = s.posterior().handle;
  }
};

/// Bytes to load: what has been saved, with a few changed if the call is faulty.
std::string file_of(Session& s) {
  const Parts parts(s);
  std::int64_t size = 0;
  if (bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, nullptr, 0, &size) != BDL_OK)
    return "not a file";
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, bytes.data(), size, &size) != BDL_OK)
    return "not a file";
  for (int k = 0; k < 4 && s.faulty(); ++k) {
    const std::size_t at = static_cast<std::size_t>(s.bytes.next() * 256 + s.bytes.next()) % bytes.size();
    bytes[at] = static_cast<char>(s.bytes.next());
  }
  if (s.faulty()) bytes.resize(bytes.size() * s.bytes.next() / 256);
  return bytes;
}

/// Which parts are wanted, and where they go.
struct Wanted {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  std::int64_t which;

  explicit Wanted(Session& s) : which(s.bytes.below(8)) {}
  bdl_model** to_model() { return which & 1 ? nullptr : &model; }
  bdl_posterior** to_posterior() { return which & 2 ? nullptr : &posterior; }
  bdl_optimizer** to_optimizer() { return which & 4 ? nullptr : &optimizer; }

  void keep(Session& s, bdl_status status, const Shape& user) {
    if (status != BDL_OK && (model || posterior || optimizer)) s.broken("a failure has given handles");
    // The model of an optimizer that is loaded alone is not known: it gets the given shape.
    Shape shape = model ? shape_of(model) : user;
    if (posterior) shape.parameters = bdl_posterior_dimension(posterior);
    s.keep(optimizer, shape);
    s.keep(posterior, shape);
    s.keep(model);
  }
};

}  // namespace

BDL_CALLS(bdl_save) {
  const Parts parts(s);
  const char* path = s.faulty() ? (s.bytes.below(2) ? nullptr : "/nowhere/at/all") : s.file.c_str();
  s.reads(bdl_save, With{path, parts.model, parts.posterior, parts.optimizer});
}

BDL_CALLS(bdl_load) {
  Wanted wanted(s);
  auto& user = s.model();
  const char* path = s.faulty() ? "/nowhere" : s.file.c_str();
  // A custom model takes over the file's noise.
  const bdl_status status =
      s.changes(bdl_load, With{path, s.bytes.below(2) ? user.handle : nullptr, wanted.to_model(),
                               wanted.to_posterior(), wanted.to_optimizer()});
  wanted.keep(s, status, user.shape);
}

BDL_CALLS(bdl_checkpoint_parts) {
  s.reads(bdl_checkpoint_parts, With{s.faulty() ? nullptr : s.file.c_str(), s.small_integer(),
                                     s.small_integer(), s.small_integer(), s.small_integer()});
}

BDL_CALLS(bdl_save_bytes) {
  const Parts parts(s);
  std::vector<unsigned char> buffer(static_cast<std::size_t>(s.bytes.next()) * 256);
  const bool ask = s.bytes.below(2) == 0;
  const std::int64_t room = ask ? 0 : static_cast<std::int64_t>(buffer.size());
  void* const to = ask ? nullptr : buffer.data();
  const std::int64_t capacity = s.faulty() ? (s.bytes.below(2) ? room / 2 : -1) : room;
  s.reads(bdl_save_bytes, With{parts.model, parts.posterior, parts.optimizer, to, capacity, s.integer()});
}

BDL_CALLS(bdl_load_bytes) {
  const std::string bytes = file_of(s);
  Wanted wanted(s);
  auto& user = s.model();
  const bdl_status status = s.changes(
      bdl_load_bytes, With{static_cast<const void*>(s.faulty() ? nullptr : bytes.data()),
                           static_cast<std::int64_t>(bytes.size()), s.bytes.below(2) ? user.handle : nullptr,
                           wanted.to_model(), wanted.to_posterior(), wanted.to_optimizer()});
  wanted.keep(s, status, user.shape);
}

}  // namespace fuzz
