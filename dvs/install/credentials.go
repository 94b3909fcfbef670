package install

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// knownHosts are code hosts whose tokens have a usual variable of the environment.
var knownHosts = map[string]struct {
	variables []string
	user      string // that goes with a token
}{
	"github.com":    {[]string{"GH_TOKEN", "GITHUB_TOKEN"}, "x-access-token"},
	"gitlab.com":    {[]string{"GITLAB_TOKEN"}, "oauth2"},
	"bitbucket.org": {[]string{"BITBUCKET_TOKEN"}, "x-token-auth"},
	"codeberg.org":  {[]string{"CODEBERG_TOKEN"}, "token"},
}

// helperTime is how long a program may take to find a secret. It must not ask.
const helperTime = 10 * time.Second

// Credentials returns the user's secret for a code host, for the field of this name in [dvs.Options]: from
// the usual variable of the environment (GH_TOKEN or GITHUB_TOKEN, GITLAB_TOKEN, BITBUCKET_TOKEN,
// CODEBERG_TOKEN), from "gh auth token", or from "git credential". None of them asks the user. The
// secret is "" if there is none.
func Credentials(ctx context.Context, host string) (user, secret string, err error) {
	known := knownHosts[host]
	for _, name := range known.variables {
		if secret := strings.TrimSpace(os.Getenv(name)); secret != "" {
			return known.user, secret, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	if host == "github.com" {
		if out, err := exec.CommandContext(ctx, "gh", "auth", "token", "--hostname", host).Output(); err == nil {
			if secret := strings.TrimSpace(string(out)); secret != "" {
				return known.user, secret, nil
			}
		}
	}
	// In the working directory, git would run the helpers that the configuration of a checkout names.
	empty, err := os.MkdirTemp("", "lookleap-empty-*")
	if err != nil {
		return "", "", failed("", "no temporary directory can be made", err)
	}
	defer os.Remove(empty)
	git := exec.CommandContext(ctx, "git", "-c", "credential.interactive=false", "credential", "fill")
	git.Dir = empty
	git.Env = append(slices.DeleteFunc(os.Environ(), choosesConfiguration), "GIT_DIR="+filepath.Join(empty, "none"),
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never")
	git.Stdin = strings.NewReader("protocol=https\nhost=" + host + "\n\n")
	out, err := git.Output()
	if err != nil { // there is no git, or it has none
		return "", "", ctx.Err()
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		switch key {
		case "username":
			user = value
		case "password":
			secret = value
		}
	}
	return cmp.Or(user, known.user), secret, nil
}

// choosesConfiguration reports whether a variable of the environment makes git read the configuration of
// a repository, or has some itself. The files of the user and of the system still count.
func choosesConfiguration(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	switch name {
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM":
		return false
	case "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG")
}
