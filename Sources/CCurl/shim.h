// curl_easy_setopt(3), curl_easy_getinfo(3) and curl_multi_setopt(3) are variadic, which Swift cannot call: one typed static inline
// twin for each type of argument. The option has to be of the twin's type; libcurl checks nothing.
#pragma once
#include <curl/curl.h>

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) { return curl_easy_setopt(easy, option, value); }

/// CURLOPT_WRITEFUNCTION or CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_data_function(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
/// CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
    return code ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}
/// CURLOPT_SSL_CTX_FUNCTION.
static inline CURLcode ccurl_set_tls_begin(CURL *easy, curl_ssl_ctx_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
    return code ? code : curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) { return curl_easy_getinfo(easy, info, value); }
static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) { return curl_easy_getinfo(easy, info, value); }
/// The text belongs to the handle and lives until its next use.
static inline CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, (char **)value);
}
