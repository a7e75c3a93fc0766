// Settings from the command line.
#ifndef VOGN_SETTINGS_HPP
#define VOGN_SETTINGS_HPP

#include <cstdint>
#include <string>

namespace vogn {

struct Settings {
  std::string data, results, only,
      options;            ///< only: a label of a method, or none; options: added to each method's
  int64_t epochs, seeds;  ///< 0: the experiment's own
  bool quick;
};

}  // namespace vogn

#endif
