#include "CXCB.h"

xcb_extension_t *cxcb_resource_extension(void) { return &xcb_res_id; }
