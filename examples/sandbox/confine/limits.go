package confine

import "time"

// Limits bound what one run takes. A zero field takes the default in its comment.
type Limits struct {
	Time      time.Duration // from start to end, being confined included; 30 s
	CPU       time.Duration // of each process, in whole seconds; 10 s
	Memory    int64         // bytes of address space of each process; 512 MiB
	Processes int           // processes and threads at once; 32
	Files     int           // open at once in each process; 64
	File      int64         // bytes of one file in the scratch directory; 16 MiB
	Scratch   int64         // bytes of all of them, where there are namespaces; 64 MiB
	Output    int           // bytes of standard output and error that are kept; 256 KiB
}

func (l Limits) withDefaults() Limits {
	set(&l.Time, 30*time.Second)
	set(&l.CPU, 10*time.Second)
	set(&l.Memory, 512<<20)
	set(&l.Processes, 32)
	set(&l.Files, 64)
	set(&l.File, 16<<20)
	set(&l.Scratch, 64<<20)
	set(&l.Output, 256<<10)
	l.CPU = max(l.CPU.Truncate(time.Second), time.Second)
	return l
}

func set[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
