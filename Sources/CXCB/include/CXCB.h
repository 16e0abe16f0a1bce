// libxcb and its X-Resource extension for Swift.
#pragma once

#include <xcb/res.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// Returns the id of X-Resource. Swift cannot take the address of a C variable.
xcb_extension_t *cxcb_resource_extension(void);
