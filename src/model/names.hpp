// Names of a model's inputs, targets and classes. The library keeps and saves them, and computes nothing with
// them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/view.hpp"
#include "bdl/names.h"

namespace bdl {

/// Longest name, in bytes.
inline constexpr std::size_t longest_name = 65535;

/// True if the text is UTF-8 without zero bytes.
bool is_utf8(std::string_view text);

class Names {
 public:
  /// Returns the name, or an empty text if there is none.
  const std::string& get(bdl_named what, Index index) const;
  /// Sets one of `count` names.
  void set(bdl_named what, Index index, Index count, std::string name);
  /// Returns all names, or no element if none is set.
  const std::vector<std::string>& all(bdl_named what) const { return lists_[place(what)]; }
  void set_all(bdl_named what, std::vector<std::string> names) { lists_[place(what)] = std::move(names); }
  bdl_class_type class_type = BDL_CLASS_TEXT;

 private:
  static std::size_t place(bdl_named what) { return static_cast<std::size_t>(what - BDL_INPUT); }
  std::array<std::vector<std::string>, 3> lists_;
};

}  // namespace bdl
