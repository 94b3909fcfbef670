package agent

import "time"

// Limits bound what a document and a session may cost. A zero field takes its
// default; a negative one is a programming error and counts as the default too.
type Limits struct {
	Document     int           // octets of a document after decompression; 1 MiB (section 13.7)
	Time         time.Duration // for a document with its automatic requests, or a medium; 30 s
	Redirects    int           // redirects followed to a document; 5 (section 6.5.1)
	Requests     int           // automatic requests that one document may cause; 8 (section 13.7)
	Medium       int           // octets of an image, sound or film; 8 MiB
	SiteRefs     int           // documents read through site-refs; 5 (section 12.6)
	Pages        int           // pages of one result without asking; 10 (section 11.5)
	Executions   int           // actions in one session; 30 for each page's origin (section 13.4)
	Burst        int           // actions at one origin in a row; 5
	Interval     time.Duration // between actions after that; 2 s
	RetryAfter   time.Duration // longest wait that is waited for and not given back as an error; 60 s
	Tombstone    time.Duration // how long a 410 of discovery is believed, and at most a day a permanent redirect; 30 days
	CachedPages  int           // pages that a session keeps; 64
	CachedOctets int           // octets of their documents; 16 MiB
	Lifetime     time.Duration // how long a page is used without asking at most; 24 h
	Informs      int           // informs that a session keeps, with 1.25 KiB of text each; 1,000
	HTML         int           // octets of a page searched for links; 512 KiB
}

func (l Limits) withDefaults() Limits {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&l.Document, 1<<20)
	orTime(&l.Time, 30*time.Second)
	or(&l.Redirects, 5)
	or(&l.Requests, 8)
	or(&l.Medium, 8<<20)
	or(&l.SiteRefs, 5)
	or(&l.Pages, 10)
	or(&l.Executions, 30)
	or(&l.Burst, 5)
	orTime(&l.Interval, 2*time.Second)
	orTime(&l.RetryAfter, time.Minute)
	orTime(&l.Tombstone, 30*24*time.Hour)
	or(&l.CachedPages, 64)
	or(&l.CachedOctets, 16<<20)
	orTime(&l.Lifetime, 24*time.Hour)
	or(&l.Informs, 1000)
	or(&l.HTML, 512<<10)
	return l
}
