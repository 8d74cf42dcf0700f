/* commands/list.c - dlspool list */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/outlook.h"

struct listing {
    const struct spool *spool;
    struct arena *arena;
    struct job_view *views;
    size_t count, capacity;
    struct plan_file plan;
    struct waiting_file waiting;
    bool mine, by_state;
    struct job_state_filter only;       /* with by_state */
    int64_t since;              /* of done/: not older than this; 0: all */
};

static int collect(void *context, const struct job_place *place)
{
    struct listing *listing = context;
    struct job_view view;
    if (place->state == STATE_DONE && listing->since &&
        id_time(text_of(place->id)) < listing->since) {
        char date[CLOCK_TEXT_SIZE];
        if (strcmp(place->date, clock_date(listing->since, date)) < 0)
            return 0;
    }
    if (view_read(listing->spool, place, listing->arena, &view))
        return 0;
    view_take_waiting(&view, &listing->waiting, listing->arena);
    if (listing->mine && view.record.uid != getuid())
        return 0;
    if (listing->by_state &&
        !job_state_is_selected(&listing->only, place->state, view.situation.state))
        return 0;
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity ? listing->capacity * 2 : 64;
        listing->views = memory_resize(listing->views, listing->capacity * sizeof(view));
    }
    listing->views[listing->count++] = view;
    return 0;
}

static int compare_views(const void *a, const void *b)
{
    const struct job_view *first = a, *second = b;
    return text_compare(id_token(text_of(first->place.id)), id_token(text_of(second->place.id)));
}

static void print_view(const struct job_view *view, int64_t now, const char *outlook)
{
    char age[CLOCK_TEXT_SIZE], kind[64];
    const struct job_record *record = &view->record;
    struct text sentence = view_sentence(view);
    snprintf(kind, sizeof(kind), "%.*s/%.*s", (int)record->library.length,
             record->library.length ? record->library.data : "", (int)record->type.length,
             record->type.length ? record->type.data : "");
    duration_format(now - id_time(text_of(view->place.id)), age);
    printf("%-*s %-9s %-10.*s %-22s %-12s ", ID_SIZE - 1, view->place.id,
           job_state_name(view->situation.state), (int)record->owner.length,
           record->owner.length ? record->owner.data : "", kind, age);
    if (outlook)
        printf("%-32s ", outlook);
    printf("%.*s\n", (int)sentence.length, sentence.data);
}

static bool select_states(const char *word, struct job_state_filter *filter)
{
    if (job_state_select(word, filter))
        return true;
    const char *nearest = nearest_word(text_of(word), job_state_words);
    complain("--state: found \"%s\", expected waiting, queued, running, stopping, done, failed or "
             "held%s%s%s", word, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
             nearest ? "\"?" : "");
    return false;
}

static void print_objects(const struct listing *listing, const struct outlook *outlooks)
{
    struct value *list = value_list(listing->arena);
    for (size_t i = 0; i < listing->count; i++) {
        struct value *tree = view_tree(listing->arena, &listing->views[i]);
        outlook_put(listing->arena, tree, &listing->views[i], &outlooks[i], false);
        value_append(listing->arena, list, tree);
    }
    print_json(list);
}

/* How jobs stand is a column when there is anything to be said. */
static void print_lines(const struct listing *listing, const struct outlook *outlooks, int64_t now)
{
    bool standing = false;
    for (size_t i = 0; i < listing->count; i++)
        standing = standing || outlook_is_there(&outlooks[i]);
    if (listing->count && isatty(STDOUT_FILENO))
        printf("%-*s %-9s %-10s %-22s %-12s %s%s\n", ID_SIZE - 1, "ID", "STATE", "OWNER",
               "LIBRARY/TYPE", "AGE", standing ? "STANDING, PREDICTED FINISH       " : "", "WHY");
    for (size_t i = 0; i < listing->count; i++) {
        char room[OUTLOOK_TEXT_SIZE];
        print_view(&listing->views[i], now, standing ? outlook_text(&outlooks[i], room) : NULL);
    }
}

static void print_listing(struct listing *listing, bool json)
{
    int64_t now = clock_now();
    struct outlook *outlooks = memory_allocate((listing->count + 1) * sizeof(*outlooks));
    plan_file_read(listing->spool, listing->arena, &listing->plan, NULL);
    for (size_t i = 0; i < listing->count; i++)
        outlook_read(listing->spool, &listing->views[i], &listing->plan, now, &outlooks[i]);
    if (json)
        print_objects(listing, outlooks);
    else
        print_lines(listing, outlooks, now);
    free(outlooks);
}

int command_list(int argument_count, char **arguments)
{
    bool all = false, json = false;
    const char *state = NULL;
    struct spool spool;
    struct listing listing = {.spool = &spool};
    const struct option_spec options[] = {
        {"state", 't', OPTION_TEXT, &state, "STATE",
         "only jobs that are waiting, queued, running, stopping, done, failed or held"},
        {"mine", 'm', OPTION_FLAG, &listing.mine, NULL, "only my jobs"},
        {"all", 'a', OPTION_FLAG, &all, NULL, "also jobs done before yesterday"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, a list of objects"},
        {0}};
    const struct verb_usage usage = {
        "list", "", 0, 0, "List the jobs, oldest first, with where they are and why.",
        "The columns are id, state, owner, library/type, age, how it\n"
        "stands to its deadline and when it is predicted to be done, if any job has a deadline\n"
        "or sizes, and the first line of `why`.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    listing.by_state = state != NULL;
    if (state && !select_states(state, &listing.only))
        return STATUS_USAGE;
    if (open_spool(&spool))
        return STATUS_FAILED;
    const int64_t one_day = 24 * 60 * 60 * (int64_t)1000;
    listing.since = all ? 0 : clock_now() - one_day;
    listing.arena = arena_new();
    waiting_read(&spool, &listing.waiting);
    for (int i = 0; i < STATE_COUNT; i++)
        if (!state || job_state_may_be_in(&listing.only, (enum state)i))
            jobs_walk(&spool, (enum state)i, collect, &listing);
    if (listing.count)
        qsort(listing.views, listing.count, sizeof(*listing.views), compare_views);
    print_listing(&listing, json);
    free(listing.views);
    arena_free(listing.arena);
    spool_close(&spool);
    return STATUS_DONE;
}
