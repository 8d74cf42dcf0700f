/* web/pass.c - passes open connections from one process to another */
#include "web/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The terms go with each connection, as one byte: a message without any is an end of file. */
enum { FIRST_TERMS = 'a' };

static char byte_of(const struct pass_terms *terms)
{
    return (char)(FIRST_TERMS + (int)terms->scope + (terms->once ? ACCESS_SCOPES : 0));
}

/* False: it stands for none. */
static bool read_byte(char byte, struct pass_terms *terms)
{
    int number = byte - FIRST_TERMS;
    *terms =
        (struct pass_terms){(enum access_scope)(number % ACCESS_SCOPES), number >= ACCESS_SCOPES};
    return number >= 0 && number < 2 * ACCESS_SCOPES;
}

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int pass_pair(int sockets[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets);
}

int pass_send(int socket, int connection, const struct pass_terms *terms)
{
    char byte = byte_of(terms);
    union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    memcpy(CMSG_DATA(&control.header), &connection, sizeof(connection));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int pass_receive(int socket, struct pass_terms *terms)
{
    char byte;
    int connection;
    union control control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0)
        return -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (count == 0 || !header || header->cmsg_type != SCM_RIGHTS) {
        errno = ENOTCONN;
        return -1;
    }
    memcpy(&connection, CMSG_DATA(header), sizeof(connection));
    if (read_byte(byte, terms))
        return connection;
    close(connection);
    errno = ENOTCONN;
    return -1;
}
