/* tests/flip.c - exchange two names, again and again, as somebody does who wants another to open the wrong one
 *
 * usage: flip A B MOST
 *
 * Exchanges A and B by renameat2(2), and again, after a random time of at most MOST microseconds, until it or
 * its parent ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    long most = count == 4 ? atol(words[3]) : 0;
    if (most < 1) {
        fprintf(stderr, "usage: flip A B MOST\n");
        return 2;
    }
    srandom((unsigned int)getpid());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        if (renameat2(AT_FDCWD, words[1], AT_FDCWD, words[2], RENAME_EXCHANGE)) {
            perror("flip");
            return 1;
        }
        nanosleep(&(struct timespec){.tv_nsec = random() % most * 1000}, NULL);
    }
}
