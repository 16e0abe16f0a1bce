// Functions for the files of this target. Swift does not see them.

/// Starts a detached thread that blocks all signals. Returns 0 or an errno.
int clinux_start_thread(void *(*body)(void *), void *argument);
