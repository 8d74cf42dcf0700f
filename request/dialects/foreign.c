/* request/dialects/foreign.c - recognise files of other programs, and say what to do instead */
#include "request/dialects/foreign.h"

#include <string.h>

#include "request/fields.h"

#define SEE "; see dlspool-job(5) for its fields"

/* Maps with all of these fields, and nothing that a native job would run. */
static const struct {
    const char *fields[3];
    const char *sentence;
} systems[] = {
    {{"apiVersion", "kind"},
     "this seems to be a Kubernetes manifest, expected a job file of dlspool: containers[].image "
     "is "
     "image, command and args are script, resources.limits are in tasks.main (cpus, memory, "
     "gpus)" SEE},
    {{"run", "resources"},
     "this seems to be a SkyPilot task, expected a job file of dlspool: run is script, workdir is "
     "program, resources are in tasks.main (cpus, memory, gpus), envs is env" SEE},
    {{"run", "setup"},
     "this seems to be a SkyPilot task, expected a job file of dlspool: run, with what setup does "
     "before it, is script, workdir is program, envs is env" SEE},
    {{"run", "num_nodes"},
     "this seems to be a SkyPilot task, expected a job file of dlspool: run is script, num_nodes "
     "is "
     "tasks.main.count with type: distributed" SEE},
    {{"services"},
     "this seems to be a file for docker compose, expected a job file of dlspool: a service's "
     "command is script, its image is image" SEE},
    {{"channels", "dependencies"},
     "this is a conda environment, expected a job file; drop one that uses it" SEE},
    {{"cells", "nbformat"},
     "this is a Jupyter notebook, expected a job file; convert it (jupyter nbconvert --to script) "
     "and drop a job file that names the program" SEE},
};

bool foreign_tree(struct reading *reading, const struct value *root)
{
    if (root->kind != VALUE_OBJECT || fields_given(root, "script") || fields_given(root, "program"))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(systems); i++) {
        bool all = true;
        for (size_t j = 0; j < 3 && systems[i].fields[j]; j++)
            all = all && fields_given(root, systems[i].fields[j]);
        if (!all)
            continue;
        problems_add(reading, NULL, root->line, root->column, "%s", systems[i].sentence);
        return true;
    }
    return false;
}

/* Beginnings of lines that are found in programs and in no job file. */
static const char *const python_starts[] = {"import ",   "from ", "def ", "class ", "print(",
                                            "if __name", "with ", "for ", "@",      "async def "};
static const char *const shell_starts[] = {"#SBATCH", "#PBS",    "#BSUB",    "export ",
                                           "cd ",     "python ", "python3 ", "torchrun ",
                                           "srun ",   "bash ",   "echo "};

static bool begins_with_one(struct text line, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_starts(line, starts[i]))
            return true;
    return false;
}

/* The first line that is neither empty nor a comment; #SBATCH and the like are not comments
 * here. */
static struct text first_line(struct text source)
{
    struct text rest = source, line;
    while (text_next(&rest, '\n', &line)) {
        struct text bare = text_trim(line);
        bool directive = begins_with_one(bare, shell_starts, 3);
        if (bare.length && (bare.data[0] != '#' || directive))
            return line;
    }
    return (struct text){"", 0};
}

bool foreign_text(struct reading *reading, struct text source, struct text name)
{
    const char *sentence = NULL;
    struct text line = first_line(source);
    bool field = memchr(line.data, ':', line.length) && !text_ends(text_trim(line), ":");
    if (text_ends(name, ".py") ||
        (!field && begins_with_one(line, python_starts, ARRAY_COUNT(python_starts))))
        sentence =
            "this seems to be a Python program, expected a job file, which names it: program: "
            "its directory, entry: its name";
    else if (begins_with_one(line, shell_starts, ARRAY_COUNT(shell_starts)))
        sentence =
            "this seems to be a shell script without its first line; begin it with #!/bin/sh "
            "or #!/bin/bash, and write #DL lines below that, such as #DL tasks.main.gpus=1";
    if (!sentence)
        return false;
    problems_add(reading, NULL, 1, 1, "%s", sentence);
    return true;
}
