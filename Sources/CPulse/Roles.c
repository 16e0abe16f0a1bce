#include "Roles.h"

#include <string.h>
#include <strings.h>

cpulse_role cpulse_read_role(const pa_proplist *properties) {
  // The first name of a role is PulseAudio's. The second one, if there is one, is PipeWire's.
  static const struct {
    const char *name;
    cpulse_role role;
  } roles[] = {
      {"phone", CPULSE_ROLE_PHONE},
      {"communication", CPULSE_ROLE_PHONE},
      {"event", CPULSE_ROLE_EVENT},
      {"notification", CPULSE_ROLE_NOTIFICATION},
      {"a11y", CPULSE_ROLE_ACCESSIBILITY},
      {"accessibility", CPULSE_ROLE_ACCESSIBILITY},
  };
  const char *name = pa_proplist_gets(properties, PA_PROP_MEDIA_ROLE);
  if (!name) return CPULSE_ROLE_NONE;
  for (size_t number = 0; number < sizeof roles / sizeof *roles; number++) {
    if (strcasecmp(name, roles[number].name) == 0) return roles[number].role;
  }
  return CPULSE_ROLE_OTHER;
}

uint32_t cpulse_read_memory(const pa_proplist *properties) {
  const char *name = pa_proplist_gets(properties, "module-stream-restore.id");
  if (!name) return 0;
  // FNV-1a. If two entries have the same number, the daemon may unmute a stream that the user
  // muted.
  uint32_t hash = 2166136261;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619;
  return hash ? hash : 1;
}

bool cpulse_is_role_module(const pa_module_info *module) {
  // PulseAudio's default configuration also loads module-role-cork, which only pauses music during
  // phone calls. That module does not conflict with the daemon.
  return strcmp(module->name, "module-role-ducking") == 0;
}

bool cpulse_is_role_sink(const pa_sink_info *sink) {
  return strstr(sink->name, "loopback.sink.role") != NULL;
}
