package dvs

import (
	"bytes"
	"cmp"

	"path"
	"regexp"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// interpreters has the interpreter of a script by its extension. The names are also those of languages
// after a code fence.
var interpreters = map[string]string{
	"sh": "sh", "bash": "bash", "zsh": "zsh", "ksh": "ksh", "fish": "fish", "ps1": "powershell", "psm1": "powershell", "bat": "cmd", "cmd": "cmd",
	"py": "python", "pyw": "python", "js": "node", "mjs": "node", "cjs": "node", "ts": "a TypeScript runtime", "rb": "ruby", "pl": "perl", "php": "php",
	"lua": "lua", "r": "Rscript", "go": "go", "rs": "a Rust compiler", "java": "java", "swift": "swift", "jl": "julia", "applescript": "osascript",
	"scpt": "osascript", "awk": "awk", "ex": "elixir", "exs": "elixir", "kts": "kotlin", "c": "a C compiler", "cc": "a C++ compiler", "cpp": "a C++ compiler",
}

// shells are names of shells and of code blocks with their commands, languages those of other code blocks.
var (
	shells    = wordSet{list: "sh bash zsh ksh fish dash shell console terminal shell-session sh-session shellsession commandline"}
	languages = wordSet{list: "powershell pwsh batch dos python python3 javascript typescript ruby perl rust golang kotlin elixir c++"}
)

// programMagic are the first bytes of files that a system runs by itself.
var programMagic = []struct{ magic, name string }{
	{"\x7fELF", "a program for Linux"}, {"MZ", "a program for Windows"}, {"\xcf\xfa\xed\xfe", "a program for macOS"}, {"\xfe\xed\xfa", "a program for macOS"},
	{"\xca\xfe\xba\xbe", "a program for macOS or Java"}, {"\x00asm", "WebAssembly"}, {"PK\x03\x04", "an archive"}, {"\x1f\x8b", "an archive"},
}

// interpreterOf returns what runs a script: what its first line says, its extension, or its first
// bytes.
func interpreterOf(name string, content []byte) string {
	if line, ok := shebang(content); ok {
		return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, byteOrderMark), "#!"))
	}
	if i := interpreters[extensionOf(name)]; i != "" {
		return i
	}
	for _, m := range programMagic {
		if bytes.HasPrefix(content, []byte(m.magic)) {
			return m.name
		}
	}
	return "interpreter unknown"
}

// extensionOf returns the extension of a file without its dot, in lower case.
func extensionOf(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// isShell reports whether a shell runs a script, by its first line or else its extension.
func isShell(name, text string) bool {
	line, ok := shebang([]byte(text))
	if !ok {
		return shells.has(extensionOf(name))
	}
	for word := range strings.FieldsSeq(strings.TrimPrefix(line, "#!")) {
		if shells.has(path.Base(word)) {
			return true
		}
	}
	return false
}

// commands reads a code block as commands of a shell. Unless the block says that it is one, only
// lines that follow a prompt or begin with a well-known program count.
func (r *capabilityReader) commands(text string, isShell bool) {
	for line := range logicalLines(text) {
		command, prompted := strings.CutPrefix(line, "$ ")
		if !prompted {
			command, prompted = strings.CutPrefix(line, "% ")
		}
		first, _, _ := strings.Cut(command, " ")
		if !isShell && !prompted && !wellKnownPrograms.has(first) {
			continue
		}
		r.add(capabilityCommand, command, "")
		r.code(command, true)
	}
}

// logicalLines yields the lines of shell text that are not comments, with continuations joined.
func logicalLines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var joined strings.Builder
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if part, more := strings.CutSuffix(line, "\\"); more {
				joined.WriteString(strings.TrimSpace(part) + " ")
				continue
			}
			joined.WriteString(line)
			whole := joined.String()
			joined.Reset()
			if whole != "" && whole[0] != '#' && !yield(whole) {
				return
			}
		}
		if joined.Len() > 0 {
			yield(joined.String())
		}
	}
}

// wellKnownPrograms begin a command also where nothing says that a text is one.
var wellKnownPrograms = wordSet{list: `curl wget sh bash zsh python python3 pip pip3 pipx uv uvx node npm npx pnpm yarn bun deno go cargo ruby gem perl php git gh docker podman
	kubectl helm terraform aws gcloud az ssh scp rsync sftp nc ncat netcat telnet ftp sudo su chmod chown rm mv cp dd mkfs mount crontab systemctl launchctl osascript
	open brew apt apt-get yum dnf apk pacman snap make cmake eval exec source export cat tar unzip base64 openssl gpg psql mysql sqlite3 redis-cli`}

// What program text names. Package regexp takes linear time.
var (
	shellEnv    = pattern(`\$(?:\{[!#]?)?([A-Za-z_]\w*)`)
	shellLoop   = pattern(`(?:^|[\s;(])(?:for|read(?:\s+-\w*)*)\s+([A-Za-z_]\w*)`)
	shellSet    = pattern(`(?:^|[\s;(])([A-Za-z_]\w*)\+?=`)
	urlPattern  = pattern(`(?i)\b(?:https?|wss?|ftps?|sftp|ssh|git|ldaps?|smtps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|mqtts?)://[^\s"'<>` + "`" + `\\\x00-\x1f]+`)
	pathPattern = pattern(`(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|%APPDATA%|%LOCALAPPDATA%)[/\\].*` +
		`|(?:^|[=:,])((?:/(?:etc|home|root|var|tmp|usr|opt|proc|sys|dev|mnt|media|srv|run|boot|bin|sbin|lib|Users|Library|System|private|Volumes|Applications)(?:/.*)?)` +
		`|(?:[A-Za-z]:\\.*)|(?:\.\./.*)` +
		`|(?:(?:\./)?\.(?:env|ssh|aws|gnupg|netrc|npmrc|pypirc|git|config|kube|docker|bashrc|zshrc|profile|bash_history|zsh_history)\b.*))`) // in a word, see endsPath
	codeEnv      = pattern(`(?:\b(?:process|import\.meta|Bun)\.env\??\.|(?i:\$\{?env:))([A-Za-z_]\w*)`)
	codeEnvIndex = pattern(`(?:\benviron(?:\.get|\.setdefault|\.pop)?|\b[gG]etenv|\bLookupEnv|\bgetEnv|\benv\.get|\benv::var(?:_os)?|\bSys\.getenv|\bENV(?:\.fetch)?|\$ENV|\$_ENV|\$_SERVER|process\.env|std::env!?|\benv!|\bSystem\.get_env)\s*[\[({]\s*["'` + "`" + `]?([A-Za-z_][A-Za-z0-9_]*)["'` + "`" + `]?`)
)

// urls lists the URLs of a text and their hosts.
func (r *capabilityReader) urls(text string) {
	if !strings.Contains(text, "://") {
		return
	}
	for _, found := range urlPattern().FindAllString(text, -1) {
		found = strings.TrimRight(found, ".,;:!?*_)]}")
		r.add(capabilityURL, found, "")
		_, rest, _ := strings.Cut(found, "://")
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			rest = rest[i+1:]
		}
		if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
			rest = rest[:i]
		}
		host, err := (domain.Rules{AllowIP: true, AllowSpecial: true}).ParseHost(rest)
		if err != nil {
			host = rest // such as ${HOST}.example.com: shown as it is written
		}
		r.add(capabilityHost, host, "")
	}
}

// code lists the environment variables and the paths of program text.
func (r *capabilityReader) code(text string, shell bool) {
	env := func(re func() *regexp.Regexp) {
		for _, groups := range re().FindAllStringSubmatch(text, -1) {
			r.add(capabilityEnv, groups[1], "")
		}
	}
	if shell {
		r.shellVariables(text)
	}
	if strings.Contains(text, "nv") || strings.Contains(text, "NV") || strings.Contains(text, "_SERVER") {
		env(codeEnv)
		env(codeEnvIndex)
	}
	if !strings.ContainsAny(text, `/\.`) {
		return
	}
	for word := range strings.FieldsFuncSeq(text, endsPath) {
		if len(word) < 2 || !strings.ContainsAny(word, `/\.`) {
			continue
		}
		for _, groups := range pathPattern().FindAllStringSubmatch(word, -1) {
			r.add(capabilityPath, strings.TrimRight(cmp.Or(groups[1], groups[0]), ".,:}]"), "")
		}
	}
}

// shellVariables lists the variables that a shell text reads. Those that a loop or read sets, or an
// earlier line, are its own.
func (r *capabilityReader) shellVariables(text string) {
	if !strings.Contains(text, "$") {
		return
	}
	own := map[string]bool{}
	set := func(re func() *regexp.Regexp, line string) {
		for _, m := range re().FindAllStringSubmatch(line, -1) {
			own[m[1]] = true
		}
	}
	for line := range strings.Lines(text) {
		set(shellLoop, line)
		for _, m := range shellEnv().FindAllStringSubmatch(line, -1) {
			if !own[m[1]] {
				r.add(capabilityEnv, m[1], "")
			}
		}
		set(shellSet, line)
	}
}

// endsPath reports whether a character is in no path that program text names.
func endsPath(c rune) bool {
	switch c {
	case ' ', '\t', '\n', '\f', '\r', '"', '\'', '`', ';', '|', '&', '<', '>', '(', ')':
		return true
	}
	return false
}
