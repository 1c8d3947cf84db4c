package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// head is how much of a program is read to see whether it is a script.
const head = 512

// script warns of a program, named at n, that is a script whose first line the system can't use: calls of it will fail.
// What can't be read is not known to be one.
func (l *loader) script(n *yaml.Node, path string) {
	if runtime.GOOS == "windows" { // which looks at a program's name
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	text := make([]byte, head)
	size, err := io.ReadFull(f, text)
	if size == 0 && !errors.Is(err, io.EOF) {
		return
	}
	begin := text[:size]
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	switch script := bytes.HasPrefix(begin, []byte("#!")); {
	case script && bytes.HasSuffix(line, []byte("\r")):
		l.warn(n, `save it with the line ends of Unix, as sed -i 's/\r$//' does`,
			"the first line of the script %s ends with a carriage return, which the system takes for a part of the "+
				"program's name", path)
	case script || bytes.IndexByte(begin, 0) >= 0: // programs that are no text have zero bytes at their beginning
	case bytes.HasPrefix(core.WithoutBOM(begin), []byte("#!")):
		l.warn(n, "save it as UTF-8 without BOM",
			"the script %s begins with a byte order mark, so the system can't start it", path)
	default:
		l.warn(n, "begin it with the program that runs it, such as #!/bin/sh",
			"the script %s does not begin with #!, so the system can't start it", path)
	}
}

// warn notes what may be wrong at a value, and the remedy.
func (l *loader) warn(n *yaml.Node, do, what string, args ...any) {
	l.warnings = append(l.warnings,
		strictyaml.Fault{File: l.File, Line: n.Line, Column: n.Column, What: fmt.Sprintf(what, args...), Do: do})
}
