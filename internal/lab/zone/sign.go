package zone

import (
	"time"

	"github.com/miekg/dns"
)

type Signing struct{}
type keySet struct{}
type nsec3Entry struct{}

func (z *Zone) delegation() []dns.RR                           { return nil }
func (d *data) sign(time.Time)                                 {}
func (d *data) proveWildcard(r *reply, name, encloser string)  {}
func (d *data) proveNoName(r *reply, name, encloser string)    {}
func (d *data) proveNoType(r *reply, n *node, encloser string) {}
