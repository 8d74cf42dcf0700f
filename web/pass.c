/* web/pass.c - passes open connections from one process to another */
#include "web/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* One byte goes with each connection: a message without any is an end of file. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int pass_pair(int sockets[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets);
}

int pass_send(int socket, int connection)
{
    char byte = 'c';
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

int pass_receive(int socket)
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
    return connection;
}
