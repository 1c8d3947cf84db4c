//go:build unix

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/tools"
)

// A script that the system can't start is a warning when the file is read, with the remedy; the tools are there. What
// the system starts is none.
func TestScriptsThatCanNotStart(t *testing.T) {
	binary, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ script, what, do string }{
		"as it should be": {"#!/bin/sh\necho\n", "", ""},
		"one line":        {"#!/bin/sh", "", ""},
		"a binary":        {string(binary), "", ""},
		"CRLF": {
			"#!/bin/sh\r\necho\r\n", "the first line of the script PATH ends with a carriage return, which the " +
				"system takes for a part of the program's name",
			`save it with the line ends of Unix, as sed -i 's/\r$//' does`,
		},
		"CRLF and one line": {
			"#!/bin/sh\r", "the first line of the script PATH ends with a carriage return, which the system takes " +
				"for a part of the program's name", `save it with the line ends of Unix, as sed -i 's/\r$//' does`,
		},
		"CRLF further down": {"#!/bin/sh\necho\r\n", "", ""},
		"no #!": {
			"echo\n", "the script PATH does not begin with #!, so the system can't start it",
			"begin it with the program that runs it, such as #!/bin/sh",
		},
		"a blank line before #!": {
			"\n#!/bin/sh\n", "the script PATH does not begin with #!, so the system can't start it",
			"begin it with the program that runs it, such as #!/bin/sh",
		},
		"an empty file": {
			"", "the script PATH does not begin with #!, so the system can't start it",
			"begin it with the program that runs it, such as #!/bin/sh",
		},
		"a byte order mark": {
			"\ufeff#!/bin/sh\n", "the script PATH begins with a byte order mark, so the system can't start it",
			"save it as UTF-8 without BOM",
		},
		"only a byte order mark": {
			"\ufeffecho\n", "the script PATH does not begin with #!, so the system can't start it",
			"begin it with the program that runs it, such as #!/bin/sh",
		},
		"text in another writing": {
			"échо\n", "the script PATH does not begin with #!, so the system can't start it",
			"begin it with the program that runs it, such as #!/bin/sh",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := folder(t, "version: 1\ntools:\n  - {name: a.b, description: d, risk: read, command: [cat]}\n  - "+
				"{name: a.c, description: d, risk: read, command: [./run]}\n")
			path := filepath.Join(filepath.Dir(file), "run")
			if err := os.WriteFile(path, []byte(c.script), 0o700); err != nil {
				t.Fatal(err)
			}
			current, err := tools.Open(file, options(t))
			if err != nil || len(current.Tools()) != 2 {
				t.Fatal(err)
			}
			want := ""
			if c.what != "" {
				want = file + ":4:54: " + strings.ReplaceAll(c.what, "PATH", path) + "; " + c.do
			}
			if got := current.Warnings().Error(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if current, err = tools.Open(file, options(t)); err != nil || len(current.Warnings()) > 0 {
				t.Errorf("when the script is mended: %v, %v", err, current.Warnings())
			}
		})
	}
}

// A byte order mark before the file is none of its text.
func TestAByteOrderMarkBeforeTheFile(t *testing.T) {
	if all := load(t, "\ufeff"+shop); len(all) != 3 {
		t.Errorf("%d tools", len(all))
	}
}
