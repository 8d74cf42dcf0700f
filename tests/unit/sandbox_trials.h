/* tests/unit/sandbox_trials.h - what somebody would try who has taken over a confined process
 *
 * Each trial is one call that must be refused, with EPERM, ENOSYS, EACCES, or EXDEV (a move out of what Landlock
 * allows): any other errno means that the trial was no good, so it says nothing.  Those marked `shown` do
 * no harm, or only to what the test has made, and must succeed for root outside the sandbox.
 */
#ifndef TESTS_UNIT_SANDBOX_TRIALS_H
#define TESTS_UNIT_SANDBOX_TRIALS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Set by the test before it forks. */
static struct {
    char directory[4096]; /* outside the spool, */
    char victim[4200];    /* with a file, */
    char program[4200];   /* a program, which ends with status RAN, */
    char device[4200];
    pid_t process; /* and another process of the same user */
    int spool;     /* the spool's directory */
    int outside;   /* the directory, open as O_PATH */
    int file;      /* a file of the spool that the process made itself */
} prey;

enum { RAN = 77 };

struct trial {
    const char *name;
    long (*attempt)(void); /* -1 with errno, or less than 0 like it */
    bool shown;
};

/* A function for each; EXPRESSION is what it returns. */
#define TRIAL(name, expression)                                                                    \
    static long try_##name(void)                                                                   \
    {                                                                                              \
        return (long)(expression);                                                                 \
    }

static const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
static char memory[64];

/* Programs and processes. */
TRIAL(execve, execl(prey.program, "program", (char *)NULL))
/* What Landlock would forbid, too, is tried where it has nothing to say: seccomp has to be first. */
TRIAL(execve_of_nothing, execl("/no/program", "program", (char *)NULL))
TRIAL(execveat, syscall(SYS_execveat, prey.outside, "program", ((char *[]){memory, NULL}),
                        ((char *[]){NULL}), 0))
TRIAL(memfd_create, syscall(SYS_memfd_create, "x", 0))
/* What a child does is as if its parent had done it. */
static long started(pid_t child)
{
    if (child == 0)
        _exit(RAN);
    return child;
}
TRIAL(fork, started(fork()))
TRIAL(vfork, syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL))
TRIAL(clone, started((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)))
static long try_clone3(void)
{
    uint64_t how[8] = {[4] = SIGCHLD};
    return started((pid_t)syscall(SYS_clone3, how, sizeof(how)));
}
TRIAL(executable_memory,
      mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED
          ? 0
          : -1)
static char page[8192];
TRIAL(mprotect_to_code, mprotect((void *)(((uintptr_t)page + 4095) & ~(uintptr_t)4095), 4096,
                                 PROT_READ | PROT_WRITE | PROT_EXEC))
TRIAL(personality, syscall(SYS_personality, 0x0400000))

/* Other processes: signals, memory, limits. */
TRIAL(kill, kill(prey.process, SIGWINCH))
TRIAL(kill_all_of_a_group, kill(-prey.process, SIGWINCH))
TRIAL(tkill, syscall(SYS_tkill, prey.process, SIGWINCH))
TRIAL(tgkill, syscall(SYS_tgkill, prey.process, prey.process, SIGWINCH))
static long queue(long call)
{
    siginfo_t info = {.si_code = SI_QUEUE, .si_signo = SIGWINCH};
    if (call == SYS_rt_sigqueueinfo)
        return syscall(call, prey.process, SIGWINCH, &info);
    return syscall(call, prey.process, prey.process, SIGWINCH, &info);
}
static long try_signals_to_nobody(void)
{
    siginfo_t info = {.si_code = SI_QUEUE, .si_signo = SIGWINCH};
    return syscall(SYS_rt_sigqueueinfo, 0x7ffffff0, SIGWINCH, &info);
}
TRIAL(kill_nobody, kill(0x7ffffff0, SIGWINCH))
TRIAL(rt_sigqueueinfo, queue(SYS_rt_sigqueueinfo))
TRIAL(rt_tgsigqueueinfo, queue(SYS_rt_tgsigqueueinfo))
TRIAL(pidfd_open, syscall(SYS_pidfd_open, prey.process, 0))
TRIAL(pidfd_send_signal, syscall(SYS_pidfd_send_signal, prey.outside, SIGWINCH, NULL, 0))
TRIAL(fcntl_setown, fcntl(prey.file, F_SETOWN, prey.process))
TRIAL(fcntl_setsig, fcntl(prey.file, F_SETSIG, SIGKILL))
TRIAL(fcntl_async, fcntl(prey.file, F_SETFL, O_ASYNC))
TRIAL(ptrace, ptrace(PTRACE_SEIZE, prey.process, NULL, NULL))
static long try_process_vm_readv(void)
{
    struct iovec own = {memory, sizeof(memory)}, theirs = {memory, sizeof(memory)};
    return process_vm_readv(prey.process, &own, 1, &theirs, 1, 0);
}
static long try_process_vm_writev(void)
{
    struct iovec own = {memory, sizeof(memory)}, theirs = {memory, sizeof(memory)};
    return process_vm_writev(prey.process, &own, 1, &theirs, 1, 0);
}
static long open_of_process(const char *file, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)prey.process, file);
    return open(path, flags);
}
TRIAL(proc_mem, open_of_process("mem", O_RDWR))
TRIAL(proc_environ, open_of_process("environ", O_RDONLY))
TRIAL(proc_maps, open_of_process("maps", O_RDONLY))
TRIAL(proc_cmdline, open_of_process("cmdline", O_RDONLY))
TRIAL(proc_oom_score_adj, open_of_process("oom_score_adj", O_WRONLY))
TRIAL(prlimit, prlimit(prey.process, RLIMIT_NOFILE, &((struct rlimit){64, 64}), NULL))
TRIAL(sched_setaffinity, sched_setaffinity(prey.process, sizeof(cpu_set_t), &(cpu_set_t){{1}}))
TRIAL(sched_setscheduler, sched_setscheduler(prey.process, SCHED_BATCH, &((struct sched_param){0})))
TRIAL(setpriority, setpriority(PRIO_PROCESS, (id_t)prey.process, 1))
TRIAL(ioprio_set, syscall(SYS_ioprio_set, 1, prey.process, 2 << 13 | 7))
TRIAL(kcmp, syscall(SYS_kcmp, getpid(), prey.process, 1, 0, 0))
TRIAL(setpgid, setpgid(0, 0))

/* Files outside, by path. */
TRIAL(read_file, open(prey.victim, O_RDONLY))
TRIAL(write_file, open(prey.victim, O_WRONLY))
TRIAL(make_file, open(prey.device, O_WRONLY | O_CREAT | O_EXCL, 0600))
TRIAL(list_directory, open(prey.directory, O_RDONLY | O_DIRECTORY))
TRIAL(open_truncate, open(prey.victim, O_RDONLY | O_TRUNC))
TRIAL(etc_passwd, open("/etc/passwd", O_RDONLY))
TRIAL(etc_shadow, open("/etc/shadow", O_RDONLY))
TRIAL(usr, open("/usr", O_RDONLY | O_DIRECTORY))
TRIAL(proc_self_maps, open("/proc/self/maps", O_RDONLY))
TRIAL(root, open("/", O_RDONLY | O_DIRECTORY))
TRIAL(openat2, syscall(SYS_openat2, prey.spool, ".", ((uint64_t[3]){0}), 24))
TRIAL(open, syscall(SYS_open, prey.victim, O_RDONLY))
TRIAL(creat, syscall(SYS_creat, prey.victim, 0644))
TRIAL(chmod, syscall(SYS_chmod, prey.victim, 0666))
TRIAL(fchmodat, fchmodat(AT_FDCWD, prey.victim, 0666, 0))
TRIAL(fchmodat2, syscall(452, AT_FDCWD, prey.victim, 0666, 0))
TRIAL(chown, syscall(SYS_chown, prey.victim, 1007, 1007))
TRIAL(lchown, syscall(SYS_lchown, prey.victim, 1007, 1007))
TRIAL(fchownat, fchownat(AT_FDCWD, prey.victim, 1007, 1007, 0))
TRIAL(truncate, truncate(prey.victim, 1))
TRIAL(setxattr, setxattr(prey.victim, "trusted.x", "y", 1, 0))
TRIAL(lsetxattr, lsetxattr(prey.victim, "trusted.x", "y", 1, 0))
TRIAL(getxattr, getxattr(prey.victim, "trusted.kept", memory, sizeof(memory)))
TRIAL(listxattr, listxattr(prey.victim, memory, sizeof(memory)))
TRIAL(removexattr, removexattr(prey.victim, "trusted.kept"))
TRIAL(utime, syscall(SYS_utime, prey.victim, NULL))
TRIAL(utimes, syscall(SYS_utimes, prey.victim, NULL))
TRIAL(utimensat, utimensat(AT_FDCWD, prey.victim, NULL, 0))
TRIAL(futimesat, syscall(SYS_futimesat, AT_FDCWD, prey.victim, NULL))
TRIAL(unlink, unlinkat(AT_FDCWD, prey.victim, 0))
TRIAL(rename, renameat(AT_FDCWD, prey.victim, AT_FDCWD, prey.device))
TRIAL(rename_into_spool, renameat(AT_FDCWD, prey.victim, prey.spool, "incoming/theirs"))
TRIAL(rename_out_of_spool, renameat(prey.spool, "incoming/mine", prey.outside, "mine"))
TRIAL(exchange,
      syscall(SYS_renameat2, prey.spool, "incoming/mine", prey.spool, "failed/mine", 1u << 1))
TRIAL(link_into_spool, linkat(AT_FDCWD, prey.victim, prey.spool, "incoming/linked", 0))
TRIAL(link_out_of_spool, linkat(prey.spool, "incoming/mine", prey.outside, "linked", 0))
TRIAL(symlink, symlinkat("/etc/shadow", prey.spool, "incoming/symlink"))
TRIAL(mknod, mknodat(prey.spool, "incoming/device", S_IFCHR | 0666, 1 << 8 | 3))
TRIAL(mkfifo, mkfifoat(prey.spool, "incoming/fifo", 0666))
TRIAL(mkdir, mkdirat(prey.outside, "made", 0755))
static long try_open_by_handle_at(void)
{
    struct {
        struct file_handle handle;
        unsigned char bytes[128];
    } name = {.handle = {.handle_bytes = 8, .handle_type = 1}};
    return open_by_handle_at(prey.spool, &name.handle, O_RDONLY);
}
static long try_name_to_handle_at(void)
{
    struct {
        struct file_handle handle;
        unsigned char bytes[128];
    } name = {.handle = {.handle_bytes = 128}};
    int mount;
    return name_to_handle_at(AT_FDCWD, prey.victim, &name.handle, &mount, 0);
}
TRIAL(fanotify_init, syscall(SYS_fanotify_init, 0, O_RDONLY))
TRIAL(chroot, chroot(prey.directory))
TRIAL(chdir, chdir(prey.directory))
TRIAL(quotactl, syscall(SYS_quotactl, 0x80000200u, NULL, 0, memory))

/* The spool itself: what intake has no use for. */
TRIAL(settings, openat(prey.spool, "dlspool.yaml", O_WRONLY))
TRIAL(read_settings, openat(prey.spool, "dlspool.yaml", O_RDONLY))
TRIAL(lease, openat(prey.spool, ".lease", O_WRONLY))
TRIAL(cut_lease, openat(prey.spool, ".lease", O_RDONLY | O_TRUNC))
TRIAL(replace_lease, unlinkat(prey.spool, ".lease", 0))
TRIAL(template, openat(prey.spool, "templates.git/hook", O_WRONLY | O_CREAT, 0644))
TRIAL(templates_moved, renameat(prey.spool, "templates.git", prey.spool, "incoming/old"))
TRIAL(storage, openat(prey.spool, ".podman/secret", O_RDONLY))
TRIAL(write_storage, openat(prey.spool, ".podman/secret", O_WRONLY))
TRIAL(done, openat(prey.spool, "done/x", O_WRONLY | O_CREAT, 0644))
TRIAL(top, openat(prey.spool, "x", O_WRONLY | O_CREAT, 0644))
TRIAL(new_state, mkdirat(prey.spool, "x", 0755))
TRIAL(job_into_submitted, mkdirat(prey.spool, "submitted/x", 0755))
TRIAL(set_uid_made, openat(prey.spool, ".new/suid", O_WRONLY | O_CREAT, 04755))
TRIAL(program_made, openat(prey.spool, ".new/program", O_WRONLY | O_CREAT, 0755))
TRIAL(unnamed_made, openat(prey.spool, ".new", O_TMPFILE | O_RDWR, 04755))
TRIAL(open_directory_made, mkdirat(prey.spool, ".new/open", 0777))
TRIAL(fchmod, fchmod(prey.file, 04755))
TRIAL(fchown, fchown(prey.file, 1007, (gid_t)-1))
TRIAL(fchown_root, fchown(prey.file, 0, 0))
TRIAL(ftruncate, ftruncate(prey.file, 0))
TRIAL(fsetxattr, fsetxattr(prey.file, "trusted.x", "y", 1, 0))
TRIAL(futimens, futimens(prey.file, long_ago))
TRIAL(ioctl, ioctl(prey.file, _IOR('f', 1, long), memory))
TRIAL(duplicate, fcntl(prey.file, F_DUPFD_CLOEXEC, 0))

/* Connections. */
TRIAL(socket_inet, socket(AF_INET, SOCK_STREAM, 0))
TRIAL(socket_unix, socket(AF_UNIX, SOCK_STREAM, 0))
TRIAL(socket_netlink, socket(AF_NETLINK, SOCK_RAW, 0))
TRIAL(socket_packet, socket(AF_PACKET, SOCK_RAW, 0))
TRIAL(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))
static const struct sockaddr_in port = {.sin_family = AF_INET};
TRIAL(connect, connect(prey.file, (const struct sockaddr *)&port, sizeof(port)))
TRIAL(bind, bind(prey.file, (const struct sockaddr *)&port, sizeof(port)))
TRIAL(listen, listen(prey.file, 1))
TRIAL(accept, accept(prey.file, NULL, NULL))
TRIAL(sendto_address, sendto(prey.file, "x", 1, 0, (const struct sockaddr *)&port, sizeof(port)))
TRIAL(sendmsg, sendmsg(prey.file, &((struct msghdr){0}), 0))
TRIAL(pipe, pipe((int[2]){0}))

/* The machine, and privileges. */
TRIAL(mount, mount("none", prey.directory, "tmpfs", 0, NULL))
TRIAL(umount, umount2(prey.directory, MNT_DETACH))
TRIAL(open_tree, syscall(SYS_open_tree, AT_FDCWD, prey.directory, 0))
TRIAL(fsopen, syscall(SYS_fsopen, "tmpfs", 0))
TRIAL(pivot_root, syscall(SYS_pivot_root, prey.directory, prey.directory))
TRIAL(unshare_user, unshare(CLONE_NEWUSER))
TRIAL(unshare_mounts, unshare(CLONE_NEWNS))
TRIAL(setns, setns(prey.outside, 0))
TRIAL(setuid, syscall(SYS_setuid, 0))
TRIAL(setresuid, setresuid(0, 0, 0))
TRIAL(setgid, syscall(SYS_setgid, 0))
TRIAL(setgroups, syscall(SYS_setgroups, 0, NULL))
TRIAL(setfsuid, syscall(SYS_setfsuid, 0))
TRIAL(prctl, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
TRIAL(capset, syscall(SYS_capset, memory, NULL))
TRIAL(bpf, syscall(SYS_bpf, 0, memory, sizeof(memory)))
TRIAL(perf_event_open, syscall(SYS_perf_event_open, memory, 0, -1, -1, 0))
TRIAL(userfaultfd, syscall(SYS_userfaultfd, 0))
TRIAL(io_uring_setup, syscall(SYS_io_uring_setup, 1, memory))
TRIAL(keyctl, syscall(SYS_keyctl, 0, -3, 0))
TRIAL(add_key, syscall(SYS_add_key, "user", "x", "y", 1, -2))
TRIAL(kexec_load, syscall(SYS_kexec_load, 0, 0, NULL, 0))
TRIAL(kexec_file_load, syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0))
TRIAL(init_module, syscall(SYS_init_module, memory, 0, memory))
TRIAL(delete_module, syscall(SYS_delete_module, "no-such-module", 0))
TRIAL(reboot, syscall(SYS_reboot, 0, 0, 0, NULL))
TRIAL(swapon, syscall(SYS_swapon, prey.victim, 0))
TRIAL(settimeofday, syscall(SYS_settimeofday, NULL, NULL))
TRIAL(clock_settime, syscall(SYS_clock_settime, 99, long_ago))
TRIAL(adjtimex, syscall(SYS_adjtimex, memory))
TRIAL(sethostname, syscall(SYS_sethostname, "x", -1))
TRIAL(syslog, syscall(SYS_syslog, 10, NULL, 0))
TRIAL(acct, syscall(SYS_acct, prey.victim))
TRIAL(iopl, syscall(SYS_iopl, 3))
TRIAL(vhangup, syscall(SYS_vhangup))
TRIAL(mbind, syscall(SYS_move_pages, prey.process, 0UL, NULL, NULL, NULL, 0))
TRIAL(landlock, syscall(444, NULL, 0, 1))
TRIAL(a_call_of_tomorrow, syscall(500, 0))

#define SHOWN(name)                                                                                \
    {                                                                                              \
#name, try_##name, true                                                                    \
    }
#define TRY(name)                                                                                  \
    {                                                                                              \
#name, try_##name, false                                                                   \
    }
static const struct trial trials[] = {
    SHOWN(execve),
    TRY(execve_of_nothing),
    TRY(signals_to_nobody),
    TRY(kill_nobody),
    SHOWN(cut_lease),
    SHOWN(execveat),
    SHOWN(memfd_create),
    SHOWN(fork),
    TRY(vfork),
    SHOWN(clone),
    SHOWN(clone3),
    SHOWN(executable_memory),
    SHOWN(mprotect_to_code),
    SHOWN(personality),
    SHOWN(kill),
    TRY(kill_all_of_a_group),
    SHOWN(tkill),
    SHOWN(tgkill),
    SHOWN(rt_sigqueueinfo),
    SHOWN(rt_tgsigqueueinfo),
    SHOWN(pidfd_open),
    TRY(pidfd_send_signal),
    SHOWN(fcntl_setown),
    SHOWN(fcntl_setsig),
    SHOWN(fcntl_async),
    SHOWN(ptrace),
    SHOWN(process_vm_readv),
    SHOWN(process_vm_writev),
    SHOWN(proc_mem),
    SHOWN(proc_environ),
    SHOWN(proc_maps),
    SHOWN(proc_cmdline),
    SHOWN(proc_oom_score_adj),
    SHOWN(prlimit),
    SHOWN(sched_setaffinity),
    SHOWN(sched_setscheduler),
    SHOWN(setpriority),
    SHOWN(ioprio_set),
    TRY(kcmp),
    SHOWN(setpgid),
    SHOWN(read_file),
    SHOWN(write_file),
    SHOWN(make_file),
    SHOWN(list_directory),
    SHOWN(open_truncate),
    SHOWN(etc_passwd),
    SHOWN(etc_shadow),
    SHOWN(usr),
    SHOWN(proc_self_maps),
    SHOWN(root),
    SHOWN(openat2),
    SHOWN(open),
    SHOWN(creat),
    SHOWN(chmod),
    SHOWN(fchmodat),
    TRY(fchmodat2),
    SHOWN(chown),
    SHOWN(lchown),
    SHOWN(fchownat),
    SHOWN(truncate),
    TRY(setxattr),
    TRY(lsetxattr),
    TRY(getxattr),
    SHOWN(listxattr),
    TRY(removexattr),
    SHOWN(utime),
    SHOWN(utimes),
    SHOWN(utimensat),
    SHOWN(futimesat),
    SHOWN(unlink),
    SHOWN(rename),
    TRY(rename_into_spool),
    TRY(rename_out_of_spool),
    TRY(exchange),
    TRY(link_into_spool),
    TRY(link_out_of_spool),
    SHOWN(symlink),
    SHOWN(mknod),
    SHOWN(mkfifo),
    SHOWN(mkdir),
    TRY(open_by_handle_at),
    TRY(name_to_handle_at),
    TRY(fanotify_init),
    SHOWN(chroot),
    SHOWN(chdir),
    TRY(quotactl),
    SHOWN(settings),
    SHOWN(read_settings),
    SHOWN(lease),
    SHOWN(replace_lease),
    SHOWN(template),
    SHOWN(templates_moved),
    SHOWN(storage),
    SHOWN(write_storage),
    SHOWN(done),
    SHOWN(top),
    SHOWN(new_state),
    SHOWN(job_into_submitted),
    SHOWN(set_uid_made),
    SHOWN(program_made),
    TRY(unnamed_made),
    SHOWN(open_directory_made),
    SHOWN(fchmod),
    SHOWN(fchown),
    SHOWN(fchown_root),
    SHOWN(ftruncate),
    TRY(fsetxattr),
    SHOWN(futimens),
    TRY(ioctl),
    SHOWN(duplicate),
    SHOWN(socket_inet),
    SHOWN(socket_unix),
    SHOWN(socket_netlink),
    TRY(socket_packet),
    SHOWN(socketpair),
    TRY(connect),
    TRY(bind),
    TRY(listen),
    TRY(accept),
    TRY(sendto_address),
    TRY(sendmsg),
    SHOWN(pipe),
    TRY(mount),
    TRY(umount),
    TRY(open_tree),
    TRY(fsopen),
    TRY(pivot_root),
    TRY(unshare_user),
    TRY(unshare_mounts),
    TRY(setns),
    SHOWN(setuid),
    SHOWN(setresuid),
    SHOWN(setgid),
    TRY(setgroups),
    TRY(setfsuid),
    SHOWN(prctl),
    TRY(capset),
    TRY(bpf),
    TRY(perf_event_open),
    TRY(userfaultfd),
    TRY(io_uring_setup),
    TRY(keyctl),
    TRY(add_key),
    TRY(kexec_load),
    TRY(kexec_file_load),
    TRY(init_module),
    TRY(delete_module),
    TRY(reboot),
    TRY(swapon),
    TRY(settimeofday),
    TRY(clock_settime),
    TRY(adjtimex),
    TRY(sethostname),
    TRY(syslog),
    TRY(acct),
    TRY(iopl),
    TRY(vhangup),
    TRY(mbind),
    TRY(landlock),
    TRY(a_call_of_tomorrow),
};
#endif
