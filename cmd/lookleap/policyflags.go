package main

import (
	"flag"

	"github.com/lookleap/lookleap/agentstxt"
)

// webToken is the product token under which --web reads robots.txt.
const webToken = "lookleap"

// policyFlags adds the flags by which a command reads the policies of sites. The result
// returns their options once the flags are parsed.
func policyFlags(flags *flag.FlagSet) func() agentstxt.Options {
	var o agentstxt.Options
	var web, ignore bool
	flags.BoolVar(&web, "web", false, "the preset for the web as it is: ignore files of other formats and obey robots.txt")
	flags.StringVar(&o.Robots.Token, "robots", "", "obey robots.txt too, as the program with this `TOKEN`")
	flags.BoolVar(&ignore, "foreign-ignore", false, "treat files of other formats with this name as no policy")
	flags.BoolVar(&o.Strict, "strict", false, "restrict also where an answer is probably no policy")
	return func() agentstxt.Options {
		if o.Robots.Token == "" && web {
			o.Robots = agentstxt.Web(webToken).Robots
		}
		if web || ignore {
			o.Foreign = agentstxt.ForeignIgnore
		}
		return o
	}
}
