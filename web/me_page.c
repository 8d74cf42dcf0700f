/* web/me_page.c - the page of a user's own: name, groups, limits, share */
#include "web/me_page.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "client/share_lines.h"
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
    struct decayed_use *use = decayed_use_new(exchange->spool, &settings->shares);
    html_heading(out, "Share");
    if (!settings->shares.row_count) {
        html_say(out, "note", TEXT("Users take turns here, whatever they have used."));
    } else if (decayed_use_look(use, &error)) {
        html_say(out, "alert", text_of(error.text));
    } else {
        share_lines_make(&settings->shares, use, &lines);
        add_share(out, share_lines_find(&lines, getuid()));
        share_lines_free(&lines);
    }
    decayed_use_free(use);
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
    buffer_add_string(&out, "<p><a href=\"/jobs?mine=true\">My jobs</a>, "
                            "<a href=\"/usage\">what they have used</a></p>\n");
    settings_free(&settings);
    html_reply(exchange, HTTP_OK, &out);
}

const struct route me_page_routes[] = {{"GET", "/me", show_me}, {.pattern = NULL}};
