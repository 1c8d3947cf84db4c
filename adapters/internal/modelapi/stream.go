package modelapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gatehouse/core/strictjson"
)

// Assembly makes of the events of a streamed answer the very body that the vendor gives when it answers at once
// (llm-provider §6, streaming assembly). So one reader reads both, and what is made of an answer does not depend on how
// it came.
type Assembly interface {
	// Event takes the next event: its name, which may be missing, and its data. Error: a *StreamError, if the event is
	// the vendor's.
	Event(name string, data *strictjson.Value) error
	// Body is what was assembled; whole is false if the stream ended before its time.
	Body() (body []byte, whole bool)
}

// StreamError is an error that a vendor sends inside a stream whose status was good.
type StreamError struct {
	Status int    // what the vendor's status would have been
	Body   []byte // the event's data
}

// Error is for the log.
func (e *StreamError) Error() string {
	return fmt.Sprintf("an error inside the stream, status %d", e.Status)
}

var (
	errCut  = errors.New("the stream ended early")
	errDone = errors.New("the stream said that it is done")
)

// done is the data of the event after the last one.
const done = "[DONE]"

// assemble reads a stream of server-sent events to its end.
func assemble(from io.Reader, to Assembly) ([]byte, error) {
	err := events(from, func(name string, data []byte) error {
		v, err := strictjson.Parse(data, strictjson.Repeats, strictjson.Replace)
		if err != nil {
			return fmt.Errorf("reading an event of the stream: %w", err)
		}
		return to.Event(name, v)
	})
	body, whole := to.Body()
	var inside *StreamError
	switch {
	case errors.As(err, &inside):
		return nil, err
	case body != nil && (whole || errors.Is(err, errDone)):
		return body, nil // what breaks after the end of the answer does not matter
	case err == nil:
		err = errCut
	}
	return body, err
}

// events calls each with the events of a stream, up to [DONE], which is errDone. Lines may end in \n or \r\n. An event
// ends with an empty line; servers that leave it out are understood where the data of a line is a whole JSON value.
func events(from io.Reader, each func(name string, data []byte) error) error {
	lines := bufio.NewReader(from)
	var name string
	var data []byte
	for {
		line, err := lines.ReadString('\n')
		if err != nil && line == "" && errors.Is(err, io.EOF) {
			err = nil
			if len(data) > 0 && json.Valid(data) {
				err = each(name, data)
			}
			return err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		ends := line == "" || field == "data" && json.Valid(data) || field == "event" && len(data) > 0
		if ends && len(data) > 0 {
			if string(bytes.TrimSpace(data)) == done {
				return errDone
			}
			if err := each(name, data); err != nil {
				return err
			}
			name, data = "", nil
		}
		switch field {
		case "event":
			name = value
		case "error": // llama.cpp's, in place of data
			name, data = field, []byte(value)
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			if data = append(data, value...); value == done {
				return errDone
			}
		}
	}
}
