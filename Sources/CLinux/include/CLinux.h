// System calls and structures that Swift's Glibc module lacks.
#pragma once

#include <sys/types.h>
