package tools

import (
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

// outputDelay is how long a command's output is waited for after it has ended or was killed: its children may hold it
// open.
const outputDelay = 2 * time.Second

// endDelay is how long a command may take to end after it was asked to, because gatehouse stops.
const endDelay = 5 * time.Second

// command is a program with its arguments, without a shell.
type command struct {
	path    string // absolute
	args    []string
	dir     string
	env     []string // NAME=value
	secrets []string // values of variables that are hidden in what it prints
}

// program reads the program, which must exist and be executable, and its arguments. A path is relative to the file of
// tools; a name alone is looked for in PATH.
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
		l.script(n, path)
	case errors.Is(err, exec.ErrNotFound):
		l.Fault(n, "install it, or write the path of a program", "there is no program %s in PATH",
			strictyaml.Quoted(words[0]))
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
		l.Fault(n, "correct the path, which starts at the folder of this file, or create the folder",
			"there is no folder %s", dir)
	}
	c.dir = dir
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment reads the names of the variables that the command gets. What is not listed it does not get.
func (l *loader) environment(c *command, n *yaml.Node) {
	for _, item := range l.List(n, "env", "[PATH, SHOP_TOKEN]") {
		name := item.Value
		if item.Kind != yaml.ScalarNode || !variable.MatchString(name) || name == callKey {
			l.Fault(item, "write the name of a variable, such as PATH",
				"%s can't be used in env", strictyaml.Shown(item))
			continue
		}
		value, set := l.Getenv(name)
		if !set {
			l.Fault(item, "set it, or remove it from env", "the variable %s is not set", name)
			continue
		}
		c.env = append(c.env, name+"="+value)
		c.secrets = append(c.secrets, mask.Setting(name, value)...)
	}
}

// Reap waits for what commands have left behind, as process 1 must, until ctx ends. In another process it does nothing.
func Reap(ctx context.Context) { procgroup.Reap(ctx) }

// maxErrors is how much of its standard error is kept of a command that failed, where its result may have twice as
// much.
const maxErrors = 16 << 10

// do runs the command with the arguments as its standard input. Of a command that failed the model reads how it ended,
// and what it printed.
func (c *command) do(name string, most int) func(context.Context, string, json.RawMessage) (string, error) {
	return func(ctx context.Context, key string, args json.RawMessage) (string, error) {
		said := &ending{most: min(most/2, maxErrors) + slack}
		out := &beginning{most: most + slack}
		cmd := exec.CommandContext(ctx, c.path, c.args...)
		cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), callKey+"="+key)
		cmd.Stdout, cmd.Stderr = out, said
		cmd.Cancel = func() error {
			if errors.Is(context.Cause(ctx), core.ErrStopping) {
				procgroup.End(cmd, endDelay)
			} else {
				procgroup.Kill(cmd)
			}
			return nil
		}
		cmd.WaitDelay = outputDelay
		err := procgroup.Run(cmd, args)
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it ended well, and has left something in the background
		}
		var exit *exec.ExitError
		// ctx may end afterwards, while the output of its children is waited for
		itself := errors.As(err, &exit) && exit.Exited()
		switch {
		case err == nil:
			return cut(ctx, c.shown(out.kept), most, out.dropped), nil
		case ctx.Err() != nil && !itself:
			return c.printed(ctx, "", out, said, most), fmt.Errorf("%w: %s was killed", ctx.Err(), name)
		case exit != nil:
			words, _ := last(mask.Text(c.shown(said.kept)), maxDiagnostic, said.dropped)
			return c.printed(ctx, exit.String(), out, said, most),
				core.Errorf(core.ToolFailed, "%s %s%s", name, ended(exit), oneLine(words, nil))
		}
		return "", core.Wrap(core.ToolFailed, err, "%s could not be started.", name)
	}
}

// ended says how a process came to its end.
func ended(exit *exec.ExitError) string {
	if exit.Exited() {
		return fmt.Sprintf("ended with status %d", exit.ExitCode())
	}
	return "ended with " + exit.String() // a signal
}

// shown is the text of what the command has printed, without its secrets.
func (c *command) shown(printed []byte) string {
	return mask.Without(strings.TrimRight(strings.ToValidUTF8(string(printed), "\ufffd"), "\n"), c.secrets)
}

// printed is how a command ended, with its output and its errors, which are told apart where there are both. "": there
// is nothing.
func (c *command) printed(ctx context.Context, how string, out *beginning, said *ending, most int) string {
	output := mask.Text(c.shown(out.kept))
	errs, less := last(mask.Text(c.shown(said.kept)), said.most-slack, said.dropped)
	if less {
		errs = "[The beginning was cut.]\n" + errs
	}
	if strings.TrimSpace(output) != "" && strings.TrimSpace(errs) != "" {
		output, errs = "stdout:\n"+output, "stderr:\n"+errs
		if out.dropped || len(how)+len(output)+len(errs)+2 > most { // what is cut stands last
			output, errs = errs, output
		}
	}
	parts := slices.DeleteFunc([]string{how, output, errs}, func(part string) bool {
		return strings.TrimSpace(part) == ""
	})
	return cut(ctx, strings.Join(parts, "\n"), most, out.dropped)
}
