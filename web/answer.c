/* web/answer.c - answers a request to a page: whether it may be, and which handler does */
#include "web/answer.h"

#include "base/array.h"
#include "web/approvals_page.h"
#include "web/assets.h"
#include "web/cluster_api.h"
#include "web/cluster_page.h"
#include "web/difference_page.h"
#include "web/dlworkspace_api.h"
#include "web/dlworkspace_control.h"
#include "web/events_api.h"
#include "web/job_page.h"
#include "web/jobs_api.h"
#include "web/jobs_page.h"
#include "web/me_page.h"
#include "web/new_page.h"
#include "web/openpai_api.h"
#include "web/origin.h"
#include "web/plan_api.h"
#include "web/plan_page.h"
#include "web/requests_api.h"
#include "web/scope.h"
#include "web/tokens_api.h"
#include "web/usage_api.h"
#include "web/usage_page.h"
#include "web/validator.h"

static const struct route *const tables[] = {
    jobs_api_routes,    requests_api_routes,    jobs_page_routes,
    new_page_routes,    approvals_page_routes,  assets_routes,
    openpai_api_routes, dlworkspace_api_routes, dlworkspace_control_routes,
    job_page_routes,    difference_page_routes, usage_page_routes,
    me_page_routes,     cluster_page_routes,    plan_page_routes,
    tokens_api_routes,  events_api_routes,      cluster_api_routes,
    usage_api_routes,   plan_api_routes};

void answer_request(struct exchange *exchange, const struct web_names *names)
{
    if (origin_allows(exchange, names) && scope_allows(exchange))
        routes_answer(tables, ARRAY_COUNT(tables), exchange);
    validator_apply(exchange);
}
