// curl_easy_setopt and its relatives are variadic, which Swift cannot call: one typed static inline twin each.
#pragma once
#include <curl/curl.h>
