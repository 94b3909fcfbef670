// Package confine runs the scripts of skills on Linux so that they reach nothing
// but what they were given: a [dvs.Runner] of kernel means alone.
//
// A script sees the approved files of its skill, read-only, the directories of
// the system, and one scratch directory that it may write and that is thrown
// away. It has no network, no keyboard, no environment but the approved one, and
// bounded time, memory, processes and output. In force are, each inherited by
// whatever the script starts and not to be taken off:
//
//   - Landlock, for files, and where the kernel has it for TCP, signals and
//     sockets of other programs;
//   - no_new_privs, so that no program raises privileges, and a seccomp filter
//     that refuses every socket, what reaches into other programs or the kernel,
//     and calls newer than the filter;
//   - resource limits;
//   - namespaces of its own for users, processes, network, mounts and IPC, where
//     they are allowed. There the scratch directory is a file system of bounded
//     size, and all else is mounted to be read. Without namespaces its size is not
//     bounded, and the prompt says so; and the filter refuses to change the
//     permissions, owner and times of any file, its own included: "touch" fails.
//
// [New] tries all of it and returns an error if the kernel lacks what is
// needed: nothing ever runs less confined than [Runner.Sandbox] tells the user.
//
// What it does not do: a script can find out whether a path exists, and all that is known of it
// besides its content: size, times, owner, attributes, and where a link leads. If the host is
// killed while a script runs without namespaces, what that started goes on, confined, within
// the limits of each process. Memory is bounded for each process, so all of them can use as
// much as [Limits.Processes] times that. A host that needs a bound for the whole puts the host
// into a control group.
package confine
