package gate

import (
	"bufio"
	"errors"
	"io"
)

// lines is a process's standard output.
type lines struct {
	in   *bufio.Reader
	file io.Closer
	gate *Gate
	rest []byte // of the line that is being read
}

// Lines gives a process's standard output with only the lines that the gate admits.
func Lines(file io.ReadCloser, g *Gate) io.ReadCloser {
	return &lines{in: bufio.NewReaderSize(file, 64<<10), file: file, gate: g}
}

// Read gives the admitted lines.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := readLine(l.in, MaxMessage)
		if errors.Is(err, ErrTooLarge) {
			return 0, l.gate.Fail(err)
		}
		if admitted := l.gate.admit(line); admitted != nil {
			l.rest = append(admitted, '\n')
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
			return nil, ErrTooLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
