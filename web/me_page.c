/* web/me_page.c - the page of a user's own: name, groups, limits, share, tokens */
#include "web/me_page.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/own_tokens.h"
#include "client/share_lines.h"
#include "web/form.h"
#include "web/html.h"
#include "web/limits_table.h"

enum { MOST_GROUPS = 1024 };

static void add_group(struct buffer *names, gid_t gid)
{
    const struct group *group = getgrgid(gid);
    buffer_add_string(names, names->length ? ", " : "");
    if (group)
        buffer_add_string(names, group->gr_name);
    else
        buffer_printf(names, "%u", (unsigned int)gid);
}

static void add_groups(struct buffer *out)
{
    gid_t groups[MOST_GROUPS];
    struct buffer names = {0};
    int count = getgroups(MOST_GROUPS, groups);
    add_group(&names, getgid());
    for (int i = 0; i < count; i++)
        if (groups[i] != getgid())
            add_group(&names, groups[i]);
    html_fact(out, "Groups", buffer_text(&names));
    buffer_free(&names);
}

static void add_facts(struct exchange *exchange, struct buffer *out,
                      const struct settings *settings)
{
    const struct passwd *user = getpwuid(getuid());
    buffer_add_string(out, "<dl>\n");
    html_fact(out, "Name", text_of(user ? user->pw_name : "none"));
    html_fact(out, "Number", arena_printf(exchange->arena, "%u", (unsigned int)getuid()));
    add_groups(out);
    html_fact(out, "Administrator",
              settings_is_administrator(settings, exchange->spool, getuid()) ? TEXT("yes")
                                                                             : TEXT("no"));
    html_fact(out, "Approver",
              approvers_have(&settings->approvers, getuid())
                  ? TEXT("yes, never of jobs of your own")
                  : TEXT("no"));
    buffer_add_string(out, "</dl>\n");
}

static void add_share(struct buffer *out, const struct share_line *line)
{
    static const double hour = 3600000;
    struct buffer words = {0};
    if (!line) {
        html_say(out, "note",
                 TEXT("You have used nothing of late, so your jobs go first among equals."));
        return;
    }
    buffer_printf(
        &words,
        "Of late you have used %.1f GPU-hours (CPUs count in part), %.0f %% of all; %.0f %% "
        "would be yours.",
        line->used / hour, 100 * line->share, 100 * line->theirs);
    html_say(out, "note", buffer_text(&words));
    buffer_free(&words);
}

static void add_shares(struct exchange *exchange, struct buffer *out,
                       const struct settings *settings)
{
    struct share_lines lines;
    struct error error;
    html_heading(out, "Share");
    if (!settings->shares.row_count) {
        html_say(out, "note", TEXT("Users take turns here, whatever they have used."));
    } else if (share_lines_look(exchange->spool, &settings->shares, &lines, &error)) {
        html_say(out, "alert", text_of(error.text));
    } else {
        add_share(out, share_lines_find(&lines, getuid()));
        share_lines_free(&lines);
    }
}

/* ---- tokens ---- */

static void add_token(struct buffer *out, const struct access_token *token, int64_t longest)
{
    int64_t end = access_token_end(token, longest);
    buffer_add_string(out, "<tr>");
    html_cell_head(out, text_of(*token->name ? token->name : "(no name)"));
    html_cell(out, "", text_of(access_token_scope_name(token->scope)));
    html_cell_time(out, "time optional", token->changed);
    html_cell_time(out, "time", end);
    html_cell(out, "optional", text_of(end < clock_now() ? "expired" : ""));
    buffer_printf(
        out,
        "<td><form class=\"actions\" method=\"post\" action=\"/me\">"
        "<input type=\"hidden\" name=\"token\" value=\"%s\"><button>revoke</button></form>"
        "</td></tr>\n",
        token->sha256);
}

static void add_tokens(struct exchange *exchange, struct buffer *out,
                       const struct settings *settings)
{
    static const struct html_column columns[] = {{"Name", ""},          {"For", ""},
                                                 {"Made", "optional"},  {"Expires", ""},
                                                 {"State", "optional"}, {"Revoke", ""}};
    struct own_tokens tokens;
    struct error error;
    html_heading(out, "Tokens");
    if (own_tokens_list(exchange->spool, exchange->arena, getuid(), &tokens, &error)) {
        html_say(out, "note", text_of(error.text));
        return;
    }
    if (!tokens.count) {
        html_say(out, "note", TEXT("You have none; dlspool token makes one."));
        return;
    }
    html_table_begin(out, "Tokens", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < tokens.count; i++)
        add_token(out, &tokens.items[i], settings->web.token_longest);
    html_table_end(out);
}

/* For a browser that has signed in at the door (web/door.h), which takes the cookie away again. */
static void add_sign_out(const struct exchange *exchange, struct buffer *out)
{
    if (text_contains(exchange_header(exchange, "Cookie"), TEXT("dlspool=")))
        buffer_add_string(out, "<form method=\"post\" action=\"/sign-out\"><p>This browser sends a "
                               "token with each request. <button>Sign out</button></p></form>\n");
}

/* Revoke a token of the user's own. */
static void revoke_token(struct exchange *exchange)
{
    struct form form;
    struct access_token token;
    struct error error;
    if (!form_read(exchange, &form))
        return;
    int status = own_tokens_revoke(exchange->spool, exchange->arena, getuid(),
                                   form_get(&form, "token"), &token, &error)
                     ? HTTP_CONFLICT
                     : HTTP_OK;
    html_reply_sentence(exchange, status,
                        status == HTTP_OK
                            ? "It was asked for; the token counts no longer in a moment."
                            : error.text);
}

static void show_me(struct exchange *exchange)
{
    struct buffer out = {0};
    struct settings settings;
    struct error error;
    if (settings_read(&settings, exchange->spool, &error)) {
        html_reply_sentence(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    html_begin(&out, "Me", "/me");
    add_facts(exchange, &out, &settings);
    html_heading(&out, "Limits");
    if (!settings.limits.row_count)
        html_say(&out, "note", TEXT("Nobody's use is limited here."));
    else if (!limits_table_add(exchange, &out, &settings, false, &error))
        html_say(&out, "alert", text_of(error.text));
    add_shares(exchange, &out, &settings);
    add_tokens(exchange, &out, &settings);
    add_sign_out(exchange, &out);
    buffer_add_string(&out, "<p><a href=\"/jobs?mine=true\">My jobs</a>, "
                            "<a href=\"/usage\">what they have used</a></p>\n");
    settings_free(&settings);
    html_reply(exchange, HTTP_OK, &out);
}

const struct route me_page_routes[] = {
    {"GET", "/me", show_me}, {"POST", "/me", revoke_token}, {.pattern = NULL}};
