// SPDX-License-Identifier: Apache-2.0
#include "onednn/door.hpp"

extern "C" {
extern const tenfold::onednn::Door tenfold_onednn_door __attribute__((visibility("default")));
const tenfold::onednn::Door tenfold_onednn_door = {TENFOLD_VERSION, tenfold::onednn::make_call,
                                                   tenfold::onednn::library_version};
}
