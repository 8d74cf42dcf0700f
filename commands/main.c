/* commands/main.c - dlspool [-s DIR] VERB ...: find the verb and run it */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/refuse.h"

struct verb {
    const char *name;
    int (*run)(int argument_count, char **arguments);
    const char *summary;
    const char *head; /* the heading of the group of verbs that begins here, or NULL */
};

static const struct verb verbs[] = {
    {"submit", command_submit, "drop job files and say which jobs they became", NULL},
    {"list", command_list, "list the jobs", NULL},
    {"show", command_show, "show all that is known about a job", NULL},
    {"logs", command_logs, "print what a job's tasks printed", NULL},
    {"wait", command_wait, "wait until jobs have ended", NULL},
    {"kill", command_kill, "ask for jobs to be killed", NULL},
    {"retry", command_retry, "ask for failed jobs to be retried", NULL},
    {"hold", command_hold, "ask for jobs to wait until they are released", NULL},
    {"release", command_release, "ask for held jobs to go on", NULL},
    {"top", command_top, "ask for jobs to go before others of their owner", NULL},
    {"priority", command_priority, "ask for jobs to have another priority", NULL},
    {"approve", command_approve, "approve jobs that wait for that", NULL},
    {"refuse", command_refuse, "refuse to approve jobs, which then end in failed/", NULL},
    {"status", command_status, "show the daemon, job counts by state, and available resources",
     NULL},
    {"nodes", command_nodes, "show the machines of the executor, and which take jobs", NULL},
    {"limits", command_limits, "show who may have how much, has it, and waits for it", NULL},
    {"share", command_share,
     "show what users and groups have used of late, and what part is theirs", NULL},
    {"history", command_history, "show what jobs took, and how good predictions were", NULL},
    {"acct", command_acct, "show what each attempt of jobs has used", NULL},
    {"report", command_report, "sum up what attempts have used, by user, group, queue or day",
     NULL},
    {"token", command_token, "make a token for dlspool web; list or revoke yours", NULL},
    {"convert", command_convert, "print job files of other systems as job files of dlspool", NULL},
    {"init", command_init, "make a spool", "For administrators:"},
    {"run", command_run, "run the daemon: take, render, submit and follow jobs", NULL},
    {"check", command_check,
     "check the settings, the templates, the executor and the files of all jobs", NULL},
    {"metrics", command_metrics, "print counts of the spool for Prometheus", NULL},
    {"pause", command_pause, "ask for no more jobs to be started, as for maintenance", NULL},
    {"resume", command_resume, "ask for a paused spool to go on", NULL},
    {"resubmit", command_resubmit, "make one pass over the failed and held jobs (for cron)", NULL},
    {"prune", command_prune, "archive and remove what has ended long ago", NULL},
    {"web", command_web, "serve the spool over HTTP, to each user as that user", NULL},
    {"render", command_render, "print the manifests job files would become",
     "For authors of templates and plans:"},
    {"diff", command_diff, "show what an old job would become today", NULL},
    {"plan", command_plan, "say what a commit of the templates would change for recent jobs", NULL},
    {"eval", command_eval, "render one JSON-e template with one context", NULL},
    {"simulate", command_simulate, "try ways to meet deadlines on a trace of jobs", NULL},
    {"version", command_version, "print the version", "And:"},
};

enum { VERB_COUNT = ARRAY_COUNT(verbs) };

static void print_help(FILE *out)
{
    fprintf(out,
            "usage: dlspool [-s DIR] VERB [OPTIONS] [OPERANDS]\n\n"
            "A batch queue for deep-learning jobs: drop a job file into DIR/incoming, find the "
            "result\nin DIR/done, or the reason in DIR/failed.\n\nVerbs:\n");
    for (int i = 0; i < VERB_COUNT; i++) {
        if (verbs[i].head)
            fprintf(out, "\n%s\n", verbs[i].head);
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(out, "\n`dlspool help VERB` says more; so do the manual pages dlspool(1) and "
                 "dlspool-VERB(1).\n");
}

/* Other systems' names for our verbs. */
static const struct {
    const char *word, *verb;
} others[] = {
    {"cancel", "kill"},    {"delete", "kill"},   {"stop", "kill"},      {"scancel", "kill"},
    {"rm", "kill"},        {"qdel", "kill"},     {"ps", "list"},        {"queue", "list"},
    {"squeue", "list"},    {"get", "list"},      {"ls", "list"},        {"jobs", "list"},
    {"qstat", "list"},     {"sacct", "acct"},    {"sreport", "report"}, {"describe", "show"},
    {"inspect", "show"},   {"why", "show"},      {"events", "show"},    {"scontrol", "show"},
    {"requeue", "retry"},  {"restart", "retry"}, {"resume", "release"}, {"unhold", "release"},
    {"suspend", "hold"},   {"pause", "hold"},    {"sbatch", "submit"},  {"qsub", "submit"},
    {"run-job", "submit"}, {"apply", "submit"},  {"create", "submit"},  {"launch", "submit"},
    {"add", "submit"},     {"log", "logs"},      {"tail", "logs"},      {"sinfo", "nodes"},
    {"info", "status"},    {"hosts", "nodes"},   {"machines", "nodes"}, {"top", "status"},
    {"start", "run"},      {"serve", "run"},     {"daemon", "run"},     {"validate", "check"},
    {"deny", "refuse"},    {"reject", "refuse"}, {"accept", "approve"},
};

static const char *nearest_verb(const char *word)
{
    const char *names[VERB_COUNT + 2] = {NULL};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (strcmp(others[i].word, word) == 0)
            return others[i].verb;
    for (int i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    names[VERB_COUNT] = "help";
    const char *nearest = nearest_word(text_of(word), names);
    /* A suggestion must have the same first letter: "bogus" is not "logs". */
    return nearest && nearest[0] == word[0] ? nearest : NULL;
}

static const struct verb *find_verb(const char *word)
{
    for (int i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    return NULL;
}

static int complain_unknown(const char *word)
{
    const char *nearest = nearest_verb(word);
    complain("there is no %s \"%s\"%s%s%s; `dlspool --help` lists the verbs",
             word[0] == '-' ? "option" : "verb", word, nearest ? "; did you mean " : "",
             nearest ? nearest : "", nearest ? "?" : "");
    return STATUS_USAGE;
}

/* `help VERB` is `VERB --help`. */
static int help_with_verb(int count, char **words)
{
    char option[] = "--help";
    if (count == 0 || words[0][0] == '-') {
        print_help(stdout);
        return STATUS_DONE;
    }
    const struct verb *verb = find_verb(words[0]);
    if (!verb)
        return complain_unknown(words[0]);
    char *arguments[] = {words[0], option, NULL};
    return verb->run(2, arguments);
}

int main(int argument_count, char **arguments)
{
    int at = 1;
    /* `dlspool list | head` ends by SIGPIPE as other tools do, even if the caller ignores it. */
    signal(SIGPIPE, SIG_DFL);
    /* Files get the modes that we ask for, whatever the caller's umask. */
    umask(022);
    option_spool = getenv("DLSPOOL_DIR");
    if (!option_spool || !*option_spool)
        option_spool = "/var/spool/dlspool";

    for (; at < argument_count && arguments[at][0] == '-'; at++) {
        const char *word = arguments[at];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(stdout);
            return STATUS_DONE;
        }
        if (strcmp(word, "--version") == 0)
            return command_version(1, arguments);
        if ((strcmp(word, "-s") == 0 || strcmp(word, "--spool") == 0) && at + 1 < argument_count)
            option_spool = arguments[++at];
        else if (strncmp(word, "--spool=", 8) == 0)
            option_spool = word + 8;
        else if (strncmp(word, "-s", 2) == 0 && word[2])
            option_spool = word + 2;
        else if (strcmp(word, "-s") == 0 || strcmp(word, "--spool") == 0)
            return complain("%s needs a value: DIR", word), STATUS_USAGE;
        else
            return complain_unknown(word);
    }
    if (at == argument_count) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    const struct verb *verb = find_verb(arguments[at]);
    if (!verb && strcmp(arguments[at], "help") == 0)
        return help_with_verb(argument_count - at - 1, arguments + at + 1);
    if (!verb)
        return complain_unknown(arguments[at]);
    int status = verb->run(argument_count - at, arguments + at);
    if (status != STATUS_DONE && options_json() && complain_untold())
        refuse_as_object(NULL, complain_untold(), status);
    if (fflush(stdout) || ferror(stdout)) {
        complain("standard output could not be written");
        return STATUS_FAILED;
    }
    return status;
}
