package dvs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// scriptRequest asks for a script. All that decides what runs is shown whole; of a long script both
// ends are shown, with its size and digest.
func (s *Loaded) scriptRequest(p *plannedScript) lookleap.ConsentRequest {
	summary := fmt.Sprintf("run a script of the skill %s", plaintext.Quote(s.ID.String(), 400))
	if s.loader.changedScript(s.ID.String(), p.Script) {
		summary += fmt.Sprintf(" that is another one than you agreed to before (%s)", CodeConsentStale)
	}
	req := s.request(lookleap.ConsentScript, summary)
	recipient := p.Sandbox.Name
	if recipient == "" {
		recipient = "a runner without a name"
	}
	run := lookleap.ConsentItem{ID: "run", Class: lookleap.ItemCode, Recipient: recipient, Digest: p.Script.Digest.String(),
		Summary: fmt.Sprintf("run %s; %s; %s", quoteName(p.Script.Name), p.Sandbox.sentence(), usesSentence(p.Uses))}
	command := func(label, text, source string) {
		run.Values = append(run.Values, lookleap.ConsentValue{Label: label, Text: text, Source: source, Command: true})
	}
	line, named := shebang(p.Script.Bytes)
	switch {
	case len(p.Interpreter) > 0:
		for _, word := range p.Interpreter {
			command("interpreter", word, "")
		}
		if named {
			run.Remote = append(run.Remote, lookleap.RemoteText{Source: s.ServingHost(), Label: "the script's first line, which is not used", Text: line})
		}
	case named:
		command("interpreter, from the script's first line", line, s.ServingHost())
	default:
		run.Summary += "; no interpreter is named, so the runner or the system chooses one"
	}
	for i, word := range p.Args {
		command(fmt.Sprintf("argument %d", i+1), word, "")
	}
	for _, variable := range p.Env {
		label := "environment"
		if isUnusualEnv(variable) {
			label = "unusual environment, which can change what other programs do"
		}
		command(label, variable, "")
	}
	run.Values = append(run.Values, lookleap.ConsentValue{Label: describeFile("script", p.Script), Text: string(p.Script.Bytes), Source: s.ServingHost()})
	req.Items = append(req.Items, run)
	for i, f := range p.Files {
		req.Items = append(req.Items, lookleap.ConsentItem{ID: fmt.Sprintf("file-%d", i+1), Recipient: recipient, Digest: f.Digest.String(),
			Summary: describeFile("give it the file "+quoteName(f.Name), f)})
	}
	return req
}

// quoteName quotes the path of a file, of which nothing is cut.
func quoteName(name string) string { return plaintext.Quote(name, len(name)+1) }

// describeFile adds size and digest of a file to a text.
func describeFile(what string, f plannedFile) string {
	return fmt.Sprintf("%s (%d bytes, %.19s…)", what, len(f.Bytes), f.Digest.String())
}

// shebang returns the first line of a script, if it names an interpreter.
func shebang(script []byte) (line string, ok bool) {
	script = bytes.TrimPrefix(script, []byte(byteOrderMark))
	if !isShebang(script) {
		return "", false
	}
	first, _ := lineAt(script, 0)
	return string(first.of(script)), true
}

func usesSentence(uses []Use) string {
	if len(uses) == 0 {
		return "what it accesses or changes: not declared"
	}
	var parts []string
	for _, u := range uses {
		parts = append(parts, quoteName(u.Mode)+" "+quoteName(u.Name))
	}
	return "what it accesses or changes: " + strings.Join(parts, ", ")
}

// unusualEnv are the variables that make programs load or run something else, or send elsewhere what
// they send: by whole names, and, with a trailing asterisk, by their beginnings.
var unusualEnv = strings.Fields(`LD_* DYLD_* _RLD* LIBPATH SHLIB_PATH GCONV_PATH GLIBC_TUNABLES MALLOC_* LOCPATH NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN TERMINFO* TERMCAP
	PATH PATHEXT COMSPEC HOME USERPROFILE APPDATA TMPDIR TEMP TMP SHELL ENV BASH_* BASHOPTS SHELLOPTS ZDOTDIR IFS CDPATH PS1 PS4 PROMPT_COMMAND FPATH INPUTRC
	PYTHON* PIP_* UV_* VIRTUAL_ENV CONDA_* PERL* RUBY* GEM_* BUNDLE_* NODE_* NPM_* YARN_* DENO_* BUN_* JAVA_* _JAVA_* JDK_* CLASSPATH MAVEN_* GRADLE_* LUA_* PHP* R_* RPROFILE* JULIA_*
	DOTNET_* CORECLR_* COR_* COMPLUS_* PSMODULEPATH GO* CGO_* CC CXX CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS RUSTC* RUSTFLAGS CARGO_* MAKEFLAGS MAKEFILES CMAKE_* PKG_CONFIG*
	GIT_* SSH_* GPG_* GNUPGHOME EDITOR VISUAL PAGER MANPAGER BROWSER LESS* DOCKER_* KUBECONFIG AWS_* AZURE_* GOOGLE_*
	HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY SSL_* OPENSSL_* REQUESTS_CA_BUNDLE CURL_* WGETRC`)

// isUnusualEnv reports whether a variable is one of those, whatever its case.
func isUnusualEnv(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	for _, unusual := range unusualEnv {
		prefix, open := strings.CutSuffix(unusual, "*")
		if name == unusual || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
