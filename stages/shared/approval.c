/* stages/shared/approval.c - approval of a job by another person */
#include "stages/shared/approval.h"

#include <stdio.h>
#include <string.h>

#include "executors/registry/registry.h"
#include "stages/users.h"

int approval_find_grant(struct arena *arena, const struct settings *settings,
                        const struct job_record *record, struct grant *grant, struct error *error)
{
    struct error problem;
    if (privilege_unite(arena, &settings->privileges, record->privileges, grant, error))
        return -1;
    if (registry_check_grant(settings->executor, grant, record->uid, &problem))
        return error_set(error, "privileged: %s", problem.text);
    return 0;
}

/* ---- what is approved ---- */

/* The digest of what is wanted, and of what each privilege of the job gives. */
static void digest_grant(const struct settings *settings, const struct job_record *record,
                         char digest[static SHA256_HEX_SIZE])
{
    struct buffer bytes = {0};
    struct text rest = record->privileges, name;
    buffer_printf(&bytes, "wants %.*s\n", (int)record->wants.length,
                  record->wants.length ? record->wants.data : "");
    while (rest.length && text_next(&rest, ' ', &name)) {
        const struct privilege *privilege = privilege_find(&settings->privileges, name);
        buffer_printf(&bytes, "gives %.*s: ", (int)name.length, name.data);
        if (privilege)
            privilege_describe(&privilege->grant, &bytes);
        buffer_add_byte(&bytes, '\n');
    }
    sha256_hex(buffer_text(&bytes), digest);
    buffer_free(&bytes);
}

static void copy_digest(char digest[static SHA256_HEX_SIZE], struct text text)
{
    snprintf(digest, SHA256_HEX_SIZE, "%.*s", (int)text.length, text.length ? text.data : "");
}

void approval_make(const struct settings *settings, const struct job_record *record, uid_t uid,
                   const char *name, int64_t now, struct approval *approval)
{
    *approval = (struct approval){.uid = uid, .when = now};
    control_file_copy_by(approval->by, text_of(name));
    copy_digest(approval->request, record->request_sha256);
    copy_digest(approval->manifest, record->first_manifest_sha256);
    digest_grant(settings, record, approval->grant);
}

/* The bytes that are sealed: all of it, and the job's id and owner, by the record's own seal.  Seals of a dlspool
 * before this one are without the approver's name. */
static void make_seal(const struct seal_key *key, const struct job_record *record,
                      const struct approval *approval, bool named, char seal[static SEAL_SIZE])
{
    struct buffer bytes = {0};
    buffer_printf(&bytes, "%.*s\n%.*s\n%ju %jd\n%s\n%s\n%s\n", (int)record->id.length,
                  record->id.data, (int)record->seal.length,
                  record->seal.length ? record->seal.data : "", (uintmax_t)approval->uid,
                  (intmax_t)approval->when, approval->request, approval->manifest, approval->grant);
    if (named)
        buffer_printf(&bytes, "%s\n", approval->by);
    seal_make_approval(key, buffer_text(&bytes), seal);
    buffer_free(&bytes);
}

void approval_seal(const struct seal_key *key, const struct job_record *record,
                   struct approval *approval)
{
    make_seal(key, record, approval, true, approval->seal);
}

/* Does the seal fit?  One that leaves out the name does where it is the one that this machine has for the uid. */
static bool is_sealed(const struct seal_key *key, const struct job_record *record,
                      const struct approval *approval)
{
    char seal[SEAL_SIZE];
    struct user user;
    make_seal(key, record, approval, true, seal);
    if (seal_equal(seal, text_of(approval->seal)))
        return true;
    users_find(approval->uid, &user);
    make_seal(key, record, approval, false, seal);
    return strcmp(user.name, approval->by) == 0 && seal_equal(seal, text_of(approval->seal));
}

/* ---- judging ---- */

int approval_may_decide(const struct settings *settings, const struct job_record *record, uid_t uid,
                        const char *name, struct error *error)
{
    const char *id = record->id.data;
    if (uid == record->uid)
        return error_set(error, "%s is a job of %s, and nobody decides about a job of their own",
                         id, name);
    if (!approvers_have(&settings->approvers, uid))
        return error_set(error,
                         "%s is none of the approvers of dlspool.yaml, who alone decide about %s",
                         name, id);
    return 0;
}

/* Why an approval that is there does not count; 0 when it does. */
static int find_fault(const struct settings *settings, const struct seal_key *key,
                      const struct job_record *record, const struct approval *approval,
                      struct error *reason)
{
    struct approval now;
    if (approval_may_decide(settings, record, approval->uid, approval->by, reason))
        return -1;
    approval_make(settings, record, approval->uid, approval->by, approval->when, &now);
    if (strcmp(now.request, approval->request) != 0)
        return error_set(reason, "the job file is another than the one that was approved");
    if (strcmp(now.manifest, approval->manifest) != 0)
        return error_set(reason,
                         "the job was rendered again, by commit %.7s of templates.git, and its "
                         "manifest is another than the one that was approved",
                         record->commit.length ? record->commit.data : "(none)");
    if (strcmp(now.grant, approval->grant) != 0)
        return error_set(reason,
                         "the job wants something else now, or dlspool.yaml gives something "
                         "else, than what was approved");
    if (!key || !key->needed)
        return 0;
    return is_sealed(key, record, approval)
               ? 0
               : error_set(reason,
                           "nothing shows that %s has approved it: it has no seal of "
                           "dlspool's own",
                           approval->by);
}

enum approval_answer approval_judge(const struct settings *settings, const struct seal_key *key,
                                    const struct job_record *record, int job,
                                    struct approval *approval, struct error *reason)
{
    reason->text[0] = '\0';
    if (!record->wants.length)
        return APPROVAL_NOT_WANTED;
    int found = approval_file_read(job, approval);
    if (found <= 0)
        return found < 0 ? APPROVAL_UNKNOWN : APPROVAL_MISSING;
    return find_fault(settings, key, record, approval, reason) ? APPROVAL_VOID : APPROVAL_GIVEN;
}

int approval_is_due(const struct settings *settings, const struct job_record *record, int job)
{
    struct approval approval;
    struct error reason;
    switch (approval_judge(settings, NULL, record, job, &approval, &reason)) {
    case APPROVAL_UNKNOWN:
        return -1;
    case APPROVAL_MISSING:
    case APPROVAL_VOID:
        return 1;
    default:
        return 0;
    }
}
