package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines is a server's standard output with only the lines that the gate admits.
type lines struct {
	in   *bufio.Reader
	file io.Closer
	gate *gate
	rest []byte // of the line that is being read
}

func newLines(file io.ReadCloser, g *gate) *lines {
	return &lines{in: bufio.NewReaderSize(file, 64<<10), file: file, gate: g}
}

// Read gives the admitted lines.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := readLine(l.in, maxMessage)
		if errors.Is(err, errTooLarge) {
			return 0, l.gate.fail(err)
		}
		if l.gate.admit(line) {
			l.rest = append(bytes.TrimRight(line, "\r\n"), '\n')
		} else if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close closes the standard output.
func (l *lines) Close() error { return l.file.Close() }

// readLine reads a line with its end. The last one may have none: then the error is that of the reader.
func readLine(in *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errTooLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
