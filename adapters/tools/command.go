package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/adapters/internal/procgroup"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/strictyaml"
)

// callKey is the variable that holds the call's key.
const callKey = "GATEHOUSE_CALL_KEY"

// outputDelay is how long a command's output is waited for after it has ended or was killed: its children may hold it open.
const outputDelay = 2 * time.Second

// command is a program with its arguments, without a shell.
type command struct {
	path    string // absolute
	args    []string
	dir     string
	env     []string // NAME=value
	secrets []string // values of variables that are hidden in what it prints
}

// program reads the program, which must exist and be executable, and its arguments. A path is relative to the file of tools; a name alone is
// looked for in PATH.
func (l *loader) program(c *command, n *yaml.Node) {
	words := l.Texts(n, "command", "[./refund.sh, --fast]")
	if len(words) == 0 {
		return
	}
	name := words[0]
	c.args = words[1:]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(l.folder, name)
	}
	path, err := exec.LookPath(name)
	switch info, statErr := os.Stat(name); {
	case err == nil:
		c.path = path
	case errors.Is(err, exec.ErrNotFound):
		l.Fault(n, "install it, or write the path of a program", "there is no program %s in PATH", strictyaml.Quoted(words[0]))
	case errors.Is(statErr, os.ErrNotExist):
		l.Fault(n, "correct the path, which starts at the folder of this file", "there is no file %s", name)
	case statErr == nil && info.IsDir():
		l.Fault(n, "name a program", "%s is a folder", name)
	case statErr == nil:
		l.Fault(n, "run chmod +x "+name, "the file %s is not executable", name)
	default:
		l.Fault(n, "correct the path, or let gatehouse read it", "the program %s can't be used: %v", name, err)
	}
}

// dir reads the working folder.
func (l *loader) dir(c *command, n *yaml.Node) {
	dir, ok := l.Text(n, "dir", "./scripts")
	if !ok {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.folder, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		l.Fault(n, "correct the path, which starts at the folder of this file, or create the folder", "there is no folder %s", dir)
	}
	c.dir = dir
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment reads the names of the variables that the command gets. What is not listed it does not get.
func (l *loader) environment(c *command, n *yaml.Node) {
	for _, item := range l.List(n, "env", "[PATH, SHOP_TOKEN]") {
		name := item.Value
		if item.Kind != yaml.ScalarNode || !variable.MatchString(name) || name == callKey {
			l.Fault(item, "write the name of a variable, such as PATH", "%s can't be used in env", strictyaml.Shown(item))
			continue
		}
		value, set := l.Getenv(name)
		if !set {
			l.Fault(item, "set it, or remove it from env", "the variable %s is not set", name)
			continue
		}
		c.env = append(c.env, name+"="+value)
		if text, err := json.Marshal(map[string]string{name: value}); err == nil {
			c.secrets = append(c.secrets, mask.Secrets(text)...)
		}
	}
	slices.SortStableFunc(c.secrets, func(a, b string) int { return len(b) - len(a) })
}

// do runs the command with the arguments on its standard input.
func (c *command) do(name string, most int) func(context.Context, string, json.RawMessage) (string, error) {
	return func(ctx context.Context, key string, args json.RawMessage) (string, error) {
		out, said := &beginning{most: most + slack}, &ending{most: slack}
		cmd := exec.CommandContext(ctx, c.path, c.args...)
		cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), callKey+"="+key)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(args), out, said
		procgroup.Own(cmd)
		cmd.Cancel = func() error { procgroup.Kill(cmd); return nil }
		cmd.WaitDelay = outputDelay
		err := cmd.Run()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it ended well, and has left something in the background
		}
		var exit *exec.ExitError
		switch {
		case err == nil:
			text := strings.TrimRight(strings.ToValidUTF8(string(out.kept), "\ufffd"), "\n")
			return cut(mask.Without(text, c.secrets), most), nil
		case ctx.Err() != nil:
			return "", fmt.Errorf("%w: %s was killed", ctx.Err(), name)
		case errors.As(err, &exit):
			return "", core.Errorf(core.ToolFailed, "%s failed with %s%s", name, exit.ProcessState, oneLine(lastWords(said), c.secrets))
		}
		return "", core.Wrap(core.ToolFailed, err, "%s could not be started.", name)
	}
}

// lastWords is the end of what a command wrote to its standard error. A line whose beginning was dropped is left out.
func lastWords(e *ending) string {
	text := string(e.kept)
	if len(e.kept) == e.most {
		_, text, _ = strings.Cut(text, "\n")
	}
	if over := len(text) - maxDiagnostic; over > 0 {
		text = strings.ToValidUTF8(text[over:], "")
	}
	return text
}
