package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
)

var (
	// programs that do no more than print, and those of ours that end by themselves
	ending = regexp.MustCompile(`^(?:\w+=\S+ )*((?:printf|echo) .*\| (?:\w+=\S+ )*gatehouse chat |` +
		`gatehouse (approvals (test|explain)|hrf|doctor|config|version) |` +
		`(mkdir|openssl|echo) .*\bsecrets(/| $))`)
	comment = regexp.MustCompile(`\s+# .*$`)
	// a word with its quoted parts
	word     = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"])+`)
	answered = regexp.MustCompile(`"status":"success"|"state": ?"open"`)
	// values for what a page leaves to its reader
	samples = map[string]string{
		"SLACK_BOT_TOKEN": "xoxb-1234567890-abc", "SLACK_APP_TOKEN": "xapp-1234567890-abc",
		"DISCORD_BOT_TOKEN":   "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.abcdefghijklmnopqrstuvwxyz0123456789AB",
		"GATEHOUSE_APPROVERS": "slack:U0123ABCD", "GATEHOUSE_TOKENS": "ann=A_LONG_RANDOM_TOKEN_OF_HERS",
		"OPENAI_API_KEY": "sk-1234567890", "ANTHROPIC_API_KEY": "sk-ant-1234567890",
	}
)

// commands runs a block of commands. What needs a platform, Docker or hours is read strictly, and its environment and
// its arguments are given to the program.
func (b *bench) commands(block example) bool {
	script := strings.ReplaceAll(block.text, "\\\n", " ")
	if strings.Contains(script, "curl ") {
		return b.asks(block)
	}
	if strings.Contains(script, "for build in ") { // makes what is stored already
		return exec.Command("sh", "-n", "-c", script).Run() == nil
	}
	env, known := map[string]string{}, true
	var run []string
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(comment.ReplaceAllString(strings.TrimSpace(line), ""))
		if ending.MatchString(line + " ") {
			run = append(run, line)
		} else if line != "" {
			known = b.command(line, env) && known
		}
	}
	b.settings(env)
	if len(run) == 0 {
		return known
	}
	out := b.shell(strings.Join(run, "\n"), "")
	if b.after.kind == "text" {
		b.follow(out, b.after.text)
		b.wanted = true
	}
	return known
}

// command reads one command; its assignments and exports go into env.
func (b *bench) command(line string, env map[string]string) bool {
	var words []string
	for _, w := range word.FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	for len(words) > 0 {
		key, value, ok := strings.Cut(words[0], "=")
		if words[0] != "export" && !ok {
			break
		}
		if ok {
			if sample := samples[key]; strings.HasSuffix(value, "…") && sample != "" {
				value = sample
			}
			env[key] = value
		}
		words = words[1:]
	}
	said := strings.Join(words, " ")
	switch {
	case len(words) == 0:
		return len(env) > 0
	case words[0] == "gatehouse":
		b.parses(words[1:])
	case strings.HasPrefix(said, "go run ./cmd/gatehouse"):
		b.parses(words[3:])
	case strings.HasPrefix(said, "go run ./cmd/bench "):
		return strings.Contains(readFile("../bench/page_test.go"), "\nfunc TestCommandsOfThePage(")
	case strings.HasPrefix(said, "go run ./cmd/conformance"):
		return true
	case words[0] == "go" && words[1] == "test":
		b.tests(words[2:])
		maps.DeleteFunc(env, func(key, _ string) bool { return strings.Contains(key, "TEST_") })
	case words[0] == "git":
		return words[1] == "worktree"
	case words[0] == ".ci/run":
		info, err := os.Stat("../../.ci/run")
		return err == nil && info.Mode()&0o100 != 0
	case strings.HasPrefix(said, "docker compose "):
		return b.compose(words[2:])
	case words[0] == "docker":
		return b.docker(words[1:], env)
	case words[0] == "kubectl" || words[0] == "systemctl" || words[0] == "install" || words[0] == "set":
		b.there(words)
	case words[0] == "runuser":
		b.parses(words[5:])
	case said == "go build -o /usr/local/bin/gatehouse ./cmd/gatehouse":
		return strings.Contains(readFile("deploy/gatehouse.service"), "\nExecStart="+words[3]+" ")
	default:
		return false
	}
	return true
}

// parses fails unless there is such a command with these flags.
func (b *bench) parses(args []string) {
	code, _, said := gatehouse(b.t, append(slices.Clone(args), "--help")...)
	if code != cli.ExitDone {
		b.t.Errorf("gatehouse %q: %s", args, said)
	}
}

// tests fails unless go test finds the packages, and the tests or benchmarks, that it is to run.
func (b *bench) tests(args []string) {
	code := ""
	for i, arg := range args {
		named := i > 0 && args[i-1] == "-bench"
		if folder := strings.TrimSuffix(arg, "/..."); strings.HasPrefix(arg, ".") && !named {
			files, _ := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
			if len(files) == 0 && folder == arg {
				b.t.Errorf("there are no tests in %s", arg)
			}
			for _, file := range files {
				code += readFile(file)
			}
		}
		if named {
			defer func() {
				if !regexp.MustCompile(`func Benchmark\w*` + arg).MatchString(code) {
					b.t.Errorf("no benchmark has %s in its name", arg)
				}
			}()
		}
		if arg != "-run" || args[i+1] == "^$" {
			continue
		}
		for _, file := range []string{"../../storage/storagetest/landed.go"} { // tests that two packages call
			code += readFile(file)
		}
		for name := range strings.SplitSeq(args[i+1], "|") {
			defer func() {
				if !regexp.MustCompile(`func (\(.*\) )?Test\w*`+name).MatchString(code) &&
					!strings.Contains(code, name) {
					b.t.Errorf("no test has %s in its name", name)
				}
			}()
		}
	}
}

// docker reads a command of Docker by what Dockerfile has.
func (b *bench) docker(words []string, env map[string]string) bool {
	file := readFile("../../Dockerfile")
	has := func(line string) {
		if !strings.Contains(file, "\n"+line+"\n") {
			b.t.Errorf("Dockerfile has no %s", line)
		}
	}
	switch {
	case strings.Join(words, " ") == "build -t gatehouse .":
		return true
	case words[0] == "exec":
		has(`ENTRYPOINT ["` + words[2] + `"]`)
		b.parses(words[3:])
		return words[1] == "gatehouse"
	case words[0] != "run":
		return false
	}
	for words = words[1:]; strings.HasPrefix(words[0], "-"); {
		option := words[0]
		words = words[1:]
		if slices.Contains([]string{"-it", "-d", "--rm", "--read-only"}, option) {
			continue
		}
		value := words[0]
		words = words[1:]
		switch option {
		case "-v":
			_, inside, _ := strings.Cut(value, ":")
			has("VOLUME " + inside)
		case "-p":
			has("EXPOSE " + value[strings.LastIndex(value, ":")+1:])
		case "-e":
			key, given, ok := strings.Cut(value, "=")
			if !ok {
				given = samples[key]
			}
			if !slices.Contains(source.Keys(), key) {
				b.t.Errorf("%s is no setting", key)
			}
			env[key] = given
		case "--name", "--restart":
		default:
			b.t.Errorf("docker run has no option %s here", option)
		}
	}
	b.parses(words[1:])
	return words[0] == "gatehouse"
}

// there fails unless the files and folders of deploy that a command names are there.
func (b *bench) there(words []string) {
	for _, one := range words {
		if inside, ok := strings.CutPrefix(one, "cmd/gatehouse/"); ok {
			if _, err := os.Stat(inside); err != nil {
				b.t.Error(err)
			}
		}
	}
}

// compose reads a command of Docker's Compose. The secrets of its file are those that the block above has made: every
// user may read them, and gatehouse takes them.
func (b *bench) compose(words []string) bool {
	b.there(words)
	text, env := readFile("deploy/compose.yaml"), map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ +file: (secrets/(.+))$`).FindAllStringSubmatch(text, -1) {
		info, err := os.Stat(filepath.Join(b.dir, m[1]))
		if err != nil {
			b.t.Error(err)
		} else if info.Mode().Perm()&0o004 == 0 {
			b.t.Errorf("the user of the container may not read %s: %v", m[1], info.Mode())
		}
		for key, value := range settingsIn("deploy/compose.yaml") {
			if value == "/run/secrets/"+m[2] {
				env[key] = filepath.Join(b.dir, m[1])
			}
		}
	}
	if words[2] == "exec" {
		b.parses(words[5:])
	}
	return len(env) == strings.Count(text, "_FILE: ")-1 && b.settings(env) // all but the password of Postgres
}

// asks runs curl against a gateway, with the files that it sends, the tokens that it has, and the id that it was given.
func (b *bench) asks(block example) bool {
	env := []string{"GATEHOUSE_AGENT=echo"}
	if m := regexp.MustCompile(`Bearer (\w+)`).FindStringSubmatch(block.text); m != nil {
		env = append(env, "GATEHOUSE_TOKENS=coder="+m[1]+",bob!="+strings.Repeat("ab12", 8))
	}
	p := newServeProcess(b.t, sqliteFile, env...)
	p.open()
	for _, m := range regexp.MustCompile(`file=@(\S+?)\)`).FindAllStringSubmatch(block.text, -1) {
		b.write(m[1], "Ann was there.")
	}
	id := ""
	script := regexp.MustCompile(`https://gatehouse\.example\.com|http://127\.0\.0\.1:8080`).ReplaceAllString(
		strings.ReplaceAll(block.text, "\\\n", " "), p.at)
	parts := strings.SplitAfter(script, "\n")
	if strings.Contains(script, "asset=") { // one command with the result of another
		parts = []string{script}
	}
	for _, command := range parts {
		if strings.TrimSpace(command) == "" {
			continue
		}
		out := b.shell(strings.NewReplacer("/ID?wait=30s", "/"+id+"?wait=1s").Replace(command), "")
		if m := regexp.MustCompile(`"id": ?"([^"]+)"`).FindStringSubmatch(out); m != nil {
			id = m[1]
		}
		if !answered.MatchString(out) {
			b.t.Errorf("%s\nanswers %s", command, out)
		}
	}
	return true
}
