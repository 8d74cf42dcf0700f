/* base/writable.c - who may write to a file besides its owner */
#include "base/writable.h"

#include <errno.h>
#include <stdint.h>

#include "base/system.h"

/* From linux/posix_acl_xattr.h and linux/posix_acl.h. */
enum { LIST_VERSION = 2, HEADER = 4, ENTRY = 8, MAY_WRITE = 2 };
enum { TAG_USER = 0x02, TAG_GROUP_OWNER = 0x04, TAG_GROUP = 0x08 };
enum { LARGEST_LIST = 4096 }; /* bytes: 500 entries */

static uint32_t read_little(const char *bytes, size_t count)
{
    uint32_t number = 0;
    for (size_t i = count; i-- > 0;)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

static void add_group(struct writable *writable, gid_t group)
{
    if (writable->group_count < WRITABLE_GROUPS)
        writable->groups[writable->group_count++] = group;
    else
        writable->others = true;
}

void writable_read_list(struct text list, const struct stat *status, struct writable *writable)
{
    if (list.length < HEADER || read_little(list.data, HEADER) != LIST_VERSION ||
        (list.length - HEADER) % ENTRY) {
        writable->others = true;
        return;
    }
    for (size_t at = HEADER; at < list.length; at += ENTRY) {
        uint32_t tag = read_little(list.data + at, 2);
        uint32_t number = read_little(list.data + at + 4, 4);
        if (!(read_little(list.data + at + 2, 2) & MAY_WRITE))
            continue;
        if (tag == TAG_USER && number != status->st_uid)
            writable->others = true;
        else if (tag == TAG_GROUP_OWNER)
            add_group(writable, status->st_gid);
        else if (tag == TAG_GROUP)
            add_group(writable, number);
    }
}

int writable_look(int file, const struct stat *status, struct writable *writable)
{
    char list[LARGEST_LIST];
    *writable = (struct writable){.others = status->st_mode & S_IWOTH};
    if (!(status->st_mode & S_IWGRP)) /* they are also an ACL's mask */
        return 0;
    ssize_t length = sys.fgetxattr(file, "system.posix_acl_access", list, sizeof(list));
    if (length < 0 && errno == ERANGE) {
        writable->others = true;
    } else if (length < 0 && errno != ENODATA && errno != EOPNOTSUPP) {
        return -1;
    } else if (length < 0) {
        add_group(writable, status->st_gid);
    } else {
        writable_read_list((struct text){list, (size_t)length}, status, writable);
    }
    return 0;
}
