// What the caller calls a model's inputs, targets and classes. The library keeps and saves it, and computes
// nothing with it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/view.hpp"
#include "bdl/names.h"

namespace bdl {

/// A name's longest text, in bytes.
inline constexpr std::size_t longest_name = 65535;

/// Is the text UTF-8, without zero bytes?
bool is_utf8(std::string_view text);

class Names {
 public:
  /// Empty if there is no such name.
  const std::string& get(bdl_named what, Index index) const;
  /// One of `count`.
  void set(bdl_named what, Index index, Index count, std::string name);
  /// Those of all, or none.
  const std::vector<std::string>& all(bdl_named what) const { return lists_[place(what)]; }
  void set_all(bdl_named what, std::vector<std::string> names) { lists_[place(what)] = std::move(names); }
  bdl_class_type class_type = BDL_CLASS_TEXT;

 private:
  static std::size_t place(bdl_named what) { return static_cast<std::size_t>(what - BDL_INPUT); }
  std::array<std::vector<std::string>, 3> lists_;
};

}  // namespace bdl
