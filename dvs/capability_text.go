package dvs

import (
	"bytes"
	"cmp"
	"iter"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/domain"
)

// syntax is how a language names environment variables and commands.
type syntax uint8

const (
	otherSyntax syntax = 1 + iota
	shellSyntax
	powershellSyntax
	batchSyntax
)

// interpreters has the interpreter of a script by its extension, and its syntax. The names are
// also those of languages after a code fence.
var interpreters = map[string]struct {
	name   string
	syntax syntax
}{
	"sh": {"sh", shellSyntax}, "bash": {"bash", shellSyntax}, "zsh": {"zsh", shellSyntax}, "ksh": {"ksh", shellSyntax}, "fish": {"fish", shellSyntax},
	"ps1": {"powershell", powershellSyntax}, "psm1": {"powershell", powershellSyntax}, "bat": {"cmd", batchSyntax}, "cmd": {"cmd", batchSyntax},
	"py": {"python", otherSyntax}, "pyw": {"python", otherSyntax}, "js": {"node", otherSyntax}, "mjs": {"node", otherSyntax}, "cjs": {"node", otherSyntax},
	"ts": {"a TypeScript runtime", otherSyntax}, "rb": {"ruby", otherSyntax}, "pl": {"perl", otherSyntax}, "php": {"php", otherSyntax}, "lua": {"lua", otherSyntax},
	"r": {"Rscript", otherSyntax}, "go": {"go", otherSyntax}, "rs": {"a Rust compiler", otherSyntax}, "java": {"java", otherSyntax}, "swift": {"swift", otherSyntax},
	"jl": {"julia", otherSyntax}, "applescript": {"osascript", otherSyntax}, "scpt": {"osascript", otherSyntax}, "awk": {"awk", otherSyntax}, "ex": {"elixir", otherSyntax},
	"exs": {"elixir", otherSyntax}, "kts": {"kotlin", otherSyntax}, "c": {"a C compiler", otherSyntax}, "cc": {"a C++ compiler", otherSyntax}, "cpp": {"a C++ compiler", otherSyntax},
}

// languages are other names of languages after a code fence.
var languages = map[string]syntax{"shell": shellSyntax, "console": shellSyntax, "terminal": shellSyntax,
	"shell-session": shellSyntax, "sh-session": shellSyntax,
	"shellsession": shellSyntax, "commandline": shellSyntax, "powershell": powershellSyntax, "pwsh": powershellSyntax, "batch": batchSyntax, "dos": batchSyntax,
	"python": otherSyntax, "python3": otherSyntax, "javascript": otherSyntax, "typescript": otherSyntax, "ruby": otherSyntax, "perl": otherSyntax,
	"rust": otherSyntax, "golang": otherSyntax, "kotlin": otherSyntax, "elixir": otherSyntax, "c++": otherSyntax}

// syntaxOf returns the syntax of a language after a code fence, or 0.
func syntaxOf(language string) syntax {
	language = strings.ToLower(strings.Trim(language, "{}. "))
	if s, ok := languages[language]; ok {
		return s
	}
	return interpreters[language].syntax
}

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
	if i, ok := interpreters[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]; ok {
		return i.name
	}
	for _, m := range programMagic {
		if bytes.HasPrefix(content, []byte(m.magic)) {
			return m.name
		}
	}
	return "interpreter unknown"
}

// script reads a script.
func (r *capabilityReader) script(name, text string) {
	s := interpreters[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))].syntax
	if line, ok := shebang([]byte(text)); ok {
		s = otherSyntax
		for word := range strings.FieldsSeq(line) {
			if base := path.Base(strings.TrimPrefix(word, "#!")); interpreters[base].syntax == shellSyntax || base == "dash" {
				s = shellSyntax
			}
		}
	}
	if s == shellSyntax {
		for line := range logicalLines(text) {
			r.programs(line)
		}
	}
	r.code(text, s)
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
		r.programs(command)
		r.code(command, shellSyntax)
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

// wrappers start the program that follows them.
var wrappers = wordSet{list: "sudo doas env nohup time nice ionice exec command builtin xargs timeout stdbuf setsid then do else ! { ("}

// keywords of shells are not programs.
var keywords = wordSet{list: "if fi for while until case esac done in function return break continue local export declare readonly set unset shift trap true false echo printf cd test [ [[ : } ) exit read eval source . wait alias select elif"}

// programs lists the programs that a command line starts.
func (r *capabilityReader) programs(line string) {
	for command := range splitCommands(line) {
		words := strings.Fields(strings.TrimRight(command, ") "))
		for len(words) > 0 {
			word := strings.Trim(words[0], `"'`)
			name, _, assigns := strings.Cut(word, "=")
			switch {
			case assigns && isVariable(name), wrappers.has(word), strings.HasPrefix(word, "-"), isDuration(word):
				words = words[1:]
				continue
			case word == "eval" || word == "source" || word == ".":
				r.add(capabilityProgram, word, "")
			case !keywords.has(word) && !strings.ContainsAny(word, "()$<>") && !strings.HasSuffix(word, ";;"):
				r.add(capabilityProgram, word, "")
				if contactPrograms.has(path.Base(word)) {
					r.contacts(words[1:])
				}
			}
			break
		}
	}
}

// substitutions begin another command.
var substitutions = strings.NewReplacer("$(", "\n", "<(", "\n")

// splitCommands splits a line where another command begins: at pipes, lists, substitutions.
func splitCommands(line string) iter.Seq[string] {
	return strings.FieldsFuncSeq(substitutions.Replace(line), func(c rune) bool {
		return c == '|' || c == ';' || c == '&' || c == '`' || c == '\n'
	})
}

// contactPrograms connect to hosts that their arguments name without a scheme.
var contactPrograms = wordSet{list: "curl wget ssh scp sftp rsync nc ncat netcat telnet ftp ping dig nslookup host whois traceroute openssl aria2c http https"}

// contacts lists the hosts among the arguments of a program that connects to hosts.
func (r *capabilityReader) contacts(words []string) {
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		if strings.HasPrefix(word, "-") || strings.Contains(word, "://") {
			continue
		}
		if _, after, ok := strings.Cut(word, "@"); ok {
			word = after
		}
		host := word
		if i := strings.IndexAny(word, "/:?"); i >= 0 {
			host = word[:i]
		}
		host = canonicalHost(host)
		if strings.Contains(host, ".") && extensions()[path.Ext(host)] == 0 {
			r.add(capabilityHost, host, "")
		}
	}
}

// canonicalHost returns a host in canonical form, or "".
func canonicalHost(host string) string {
	canonical, err := (domain.Rules{AllowIP: true, AllowSpecial: true}).ParseHost(host)
	if err != nil {
		return ""
	}
	return canonical
}

// isDuration reports whether a word is a number, perhaps with a unit, such as the 10s of timeout.
func isDuration(word string) bool {
	return word != "" && word[0] >= '0' && word[0] <= '9' && strings.Trim(word, "0123456789.smhd") == ""
}

// isVariable reports whether a word is the name of a variable.
func isVariable(word string) bool {
	for i, c := range word {
		if c != '_' && !('a' <= c|0x20 && c|0x20 <= 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return word != ""
}

// patterns are compiled on first use. Package regexp takes linear time.
var patterns = sync.OnceValue(func() (p struct {
	url, path                     *regexp.Regexp
	shellEnv, shellLoop, shellSet *regexp.Regexp
	powerEnv, batchEnv            *regexp.Regexp
	codeEnv, codeEnvIndex         *regexp.Regexp
}) {
	p.shellEnv = regexp.MustCompile(`\$(?:\{[!#]?)?([A-Za-z_]\w*)`)
	p.shellLoop = regexp.MustCompile(`(?:^|[\s;(])(?:for|read(?:\s+-\w*)*)\s+([A-Za-z_]\w*)`)
	p.shellSet = regexp.MustCompile(`(?:^|[\s;(])([A-Za-z_]\w*)\+?=`)
	p.url = regexp.MustCompile(`(?i)\b(?:https?|wss?|ftps?|sftp|ssh|git|ldaps?|smtps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|mqtts?)://[^\s"'<>` + "`" + `\\\x00-\x1f]+`)
	p.path = regexp.MustCompile(`(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|%APPDATA%|%LOCALAPPDATA%)[/\\].*` +
		`|(?:^|[=:,])((?:/(?:etc|home|root|var|tmp|usr|opt|proc|sys|dev|mnt|media|srv|run|boot|bin|sbin|lib|Users|Library|System|private|Volumes|Applications)(?:/.*)?)` +
		`|(?:[A-Za-z]:\\.*)|(?:\.\./.*)` +
		`|(?:(?:\./)?\.(?:env|ssh|aws|gnupg|netrc|npmrc|pypirc|git|config|kube|docker|bashrc|zshrc|profile|bash_history|zsh_history)\b.*))`) // in a word, see endsPath
	p.powerEnv = regexp.MustCompile(`(?i)\$\{?env:([A-Za-z_][A-Za-z0-9_]*)`)
	p.batchEnv = regexp.MustCompile(`%([A-Za-z_][A-Za-z0-9_]*)%`)
	p.codeEnv = regexp.MustCompile(`\b(?:process|import\.meta|Bun)\.env\??\.([A-Za-z_][A-Za-z0-9_]*)`)
	p.codeEnvIndex = regexp.MustCompile(`(?:\benviron(?:\.get|\.setdefault|\.pop)?|\b[gG]etenv|\bLookupEnv|\bgetEnv|\benv\.get|\benv::var(?:_os)?|\bSys\.getenv|\bENV(?:\.fetch)?|\$ENV|\$_ENV|\$_SERVER|process\.env|std::env!?|\benv!|\bSystem\.get_env)\s*[\[({]\s*["'` + "`" + `]?([A-Za-z_][A-Za-z0-9_]*)["'` + "`" + `]?`)
	return p
})

// urls lists the URLs of a text and their hosts.
func (r *capabilityReader) urls(text string) {
	if !strings.Contains(text, "://") {
		return
	}
	for _, found := range patterns().url.FindAllString(text, -1) {
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
		if host := canonicalHost(rest); host != "" {
			r.add(capabilityHost, host, "")
		} else {
			r.add(capabilityHost, rest, "") // such as ${HOST}.example.com: shown as it is written
		}
	}
}

// code lists the environment variables and the paths of program text.
func (r *capabilityReader) code(text string, s syntax) {
	p := patterns()
	each := func(re *regexp.Regexp, found func(groups []string)) {
		for _, groups := range re.FindAllStringSubmatch(text, -1) {
			found(groups)
		}
	}
	env := func(groups []string) { r.add(capabilityEnv, groups[1], "") }
	switch s {
	case shellSyntax:
		r.shellVariables(text)
	case powershellSyntax:
		each(p.powerEnv, env)
	case batchSyntax:
		each(p.batchEnv, env)
	}
	if strings.Contains(text, ".env") {
		each(p.codeEnv, env)
	}
	if strings.Contains(text, "nv") || strings.Contains(text, "NV") || strings.Contains(text, "_SERVER") {
		each(p.codeEnvIndex, env)
	}
	if !strings.ContainsAny(text, `/\.`) {
		return
	}
	for word := range strings.FieldsFuncSeq(text, endsPath) {
		if len(word) < 2 || !strings.ContainsAny(word, `/\.`) {
			continue
		}
		for _, groups := range p.path.FindAllStringSubmatch(word, -1) {
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
	p, own := patterns(), map[string]bool{}
	set := func(re *regexp.Regexp, line string) {
		for _, m := range re.FindAllStringSubmatch(line, -1) {
			own[m[1]] = true
		}
	}
	for line := range strings.Lines(text) {
		set(p.shellLoop, line)
		for _, m := range p.shellEnv.FindAllStringSubmatch(line, -1) {
			if !own[m[1]] {
				r.add(capabilityEnv, m[1], "")
			}
		}
		set(p.shellSet, line)
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
