/* web/own_name.c - who the user of this page is, as other systems' clients name them */
#include "web/own_name.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

static char name[256], number[16];

void own_name_read(void)
{
    const struct passwd *user = getpwuid(getuid());
    snprintf(number, sizeof(number), "%u", getuid());
    snprintf(name, sizeof(name), "%s", user ? user->pw_name : number);
}

struct text own_name(void)
{
    if (!name[0])
        own_name_read();
    return text_of(name);
}

bool own_name_is(struct text user)
{
    return text_equal(user, own_name()) || text_is(user, number);
}
