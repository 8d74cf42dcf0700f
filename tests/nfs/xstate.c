/* xstate.c - let Debian's user-mode Linux run on processors whose registers are more than it knows
 *
 * It saves and restores 2,696 bytes of a process's extended registers, which are all that there
 * are with AVX-512.  A kernel refuses to set fewer than there are (EFAULT), so on a processor with
 * AMX it ends at the first process.  Preloaded into it, this adds those that it does not know, as
 * they are.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { LARGEST = 65536 }; /* bytes; AMX takes 11,008 */
static long (*real)(enum __ptrace_request request, ...);
static unsigned char registers[LARGEST]; /* its kernel is one thread, with a small stack */

__attribute__((constructor)) static void find_real(void)
{
    void *found = dlsym(RTLD_NEXT, "ptrace");
    memcpy(&real, &found, sizeof(found));
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    int process = va_arg(arguments, int);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    long result = real(request, process, address, data);
    if (result == 0 || errno != EFAULT || request != PTRACE_SETREGSET ||
        (unsigned long)address != NT_X86_XSTATE)
        return result;
    const struct iovec *given = data;
    struct iovec all = {registers, sizeof(registers)};
    if (real(PTRACE_GETREGSET, process, address, &all))
        return -1;
    memcpy(registers, given->iov_base, given->iov_len < all.iov_len ? given->iov_len : all.iov_len);
    return real(PTRACE_SETREGSET, process, address, &all);
}
