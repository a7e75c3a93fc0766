#include "bdl/interrupt.h"

#include "base/interrupt.hpp"

void bdl_set_interrupt(bdl_interrupt_fn interrupt, void* user_data) {
  bdl::set_interrupt(interrupt, user_data);
}

int32_t bdl_interrupted(void) {
  return bdl::peek_interrupted() ? 1 : 0;
}
