package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// The bounds of a file: its size in bytes, and how many values it has, those that an alias repeats counted again.
const (
	maxFile   = 1 << 20
	maxValues = 200_000
)

// Reader reads a file and collects what is wrong with it. Its methods report a fault and return a zero value for what
// they can't read. One Reader may read several files, one after another.
type Reader struct {
	File   string // the path, for ReadFile and the faults
	Faults Faults // so far, in the order in which they were found

	values int
}

// Fault reports what is wrong at a value, and the remedy. nil: it is wrong with the file as a whole.
func (r *Reader) Fault(n *yaml.Node, do, what string, args ...any) {
	if n == nil {
		n = &yaml.Node{}
	}
	r.FaultAt(n.Line, n.Column, do, what, args...)
}

// FaultAt is Fault for a place that is no value's. Column 0: it is not known.
func (r *Reader) FaultAt(line, column int, do, what string, args ...any) {
	r.Faults = append(r.Faults,
		Fault{File: r.File, Line: line, Column: column, What: fmt.Sprintf(what, args...), Do: do})
}

// Err is nil if there are no faults, or else all of them in the order of their places, each once.
func (r *Reader) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return r.Faults.sorted()
}

// ReadFile reads the file, without a byte order mark; ok is false after a fault.
func (r *Reader) ReadFile() (data []byte, ok bool) {
	f, err := os.Open(r.File)
	if err != nil {
		r.Fault(nil, "correct the path, or let gatehouse read the file", "the file can't be read: %v",
			errors.Unwrap(err))
		return nil, false
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		r.Fault(nil, "name a file that gatehouse can read", "the file can't be read: %v", errors.Unwrap(err))
		return nil, false
	}
	return core.WithoutBOM(data), r.fits(data)
}

// fits reports a text that is too large.
func (r *Reader) fits(data []byte) bool {
	if len(data) > maxFile {
		r.Fault(nil, "keep it under 1 MiB", "the file is too large")
	}
	return len(data) <= maxFile
}

// Parse returns the text's one document; nil after a fault, or if it is empty. begin is the remedy for an empty text;
// "": it may be empty.
func (r *Reader) Parse(data []byte, begin string) (root *yaml.Node) {
	if !r.fits(data) {
		return nil
	}
	defer func() {
		if p := recover(); p != nil { // the library panics on some texts
			root = nil
			r.FaultAt(1, 0, "correct the YAML", "the file is no valid YAML: %v", p)
		}
	}()
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := documents.Decode(&first)
	if errors.Is(err, io.EOF) || err == nil && (len(first.Content) == 0 || first.Content[0].Tag == "!!null") {
		if begin != "" {
			r.FaultAt(1, 0, begin, "the file is empty")
		}
		return nil
	}
	if err == nil {
		if err = documents.Decode(&second); err == nil {
			r.Fault(&second, "remove the line --- and what follows it", "the file has several documents")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		line, text := position(err)
		r.FaultAt(max(line, 1), 0, "correct the YAML there or just before it", "the file is no valid YAML: %s", text)
		return nil
	}
	return r.follow(first.Content[0])
}

// place is where the YAML library says that something is wrong.
var place = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?(?:line (\d+): )?`)

// position takes the line out of an error of the library; 0: it has none.
func position(err error) (line int, text string) {
	m := place.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	return line, strings.ReplaceAll(strings.TrimPrefix(err.Error(), m[0]), "\n", " ")
}

// follow returns what an alias stands for, and any other value as it is. It counts the value.
func (r *Reader) follow(n *yaml.Node) *yaml.Node {
	r.Spend(1, n)
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// Spend counts values, those that the file repeats by other means than aliases too. The first that is too many, at n,
// is a fault.
func (r *Reader) Spend(values int, n *yaml.Node) {
	before := r.Exhausted()
	if r.values += values; r.Exhausted() && !before {
		r.Fault(n, "use fewer values and aliases",
			"the file has more than %d values, with all that it repeats written out", maxValues)
	}
}

// Exhausted reports whether there are too many values to go on.
func (r *Reader) Exhausted() bool { return r.values > maxValues }
