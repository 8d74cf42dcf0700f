/* planner/policy.c - the scheduling policies, by name */
#include "planner/policy.h"

#include "planner/plan.h"

static const struct policy table[] = {
    {"fifo", policy_fifo},
    {"backfill", policy_backfill},
    {"sjf", policy_sjf},
    {"edf", policy_edf},
    {"llf", policy_llf},
    {"paper", policy_edf_min_size},
    {"elasticflow", policy_elasticflow},
    {"ours", policy_max_met},
};

const struct policy *policies(size_t *count)
{
    *count = ARRAY_COUNT(table);
    return table;
}

const struct policy *policy_find(struct text name)
{
    for (size_t i = 0; i < ARRAY_COUNT(table); i++)
        if (text_is(name, table[i].name))
            return &table[i];
    return NULL;
}
