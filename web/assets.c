/* web/assets.c - files that the program carries and serves as they are */
#include "web/assets.h"

/* By tools/embed, of web/style.css, web/page.js and web/openapi.yaml. */
extern const unsigned char web_style_bytes[], web_script_bytes[], web_openapi_bytes[];
extern const size_t web_style_length, web_script_length, web_openapi_length;

static void show_style(struct exchange *exchange)
{
    exchange_reply_text(exchange, HTTP_OK, "text/css; charset=utf-8",
                        (struct text){(const char *)web_style_bytes, web_style_length});
}

static void show_script(struct exchange *exchange)
{
    exchange_reply_text(exchange, HTTP_OK, "text/javascript; charset=utf-8",
                        (struct text){(const char *)web_script_bytes, web_script_length});
}

static void show_openapi(struct exchange *exchange)
{
    exchange_reply_text(exchange, HTTP_OK, "application/yaml",
                        (struct text){(const char *)web_openapi_bytes, web_openapi_length});
}

const struct route assets_routes[] = {{"GET", "/style.css", show_style},
                                      {"GET", "/page.js", show_script},
                                      {"GET", "/dlspool/v1/openapi.yaml?", show_openapi},
                                      {.pattern = NULL}};
