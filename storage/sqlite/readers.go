package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// readers are the connections that read, opened when they are first needed.
type readers struct {
	connector connector
	idle      chan *conn // nil for one that is not open; holds all of them while nobody reads
}

// readersAtMost is the maximum number of concurrent reads.
const readersAtMost = 4

func newReaders(c connector) *readers {
	r := &readers{connector: c, idle: make(chan *conn, readersAtMost)}
	for range readersAtMost {
		r.idle <- nil
	}
	return r
}

// use lends a connection to read.
func (r *readers) use(ctx context.Context, read func(*conn) error) (err error) {
	var c *conn
	var open bool
	select {
	case c, open = <-r.idle:
		if !open {
			return errClosed
		}
	case <-ctx.Done():
		return fmt.Errorf("waiting to read: %w", ctx.Err())
	}
	defer func() { r.idle <- c }()
	if c == nil {
		if c, err = connect(r.connector); err != nil {
			return err
		}
	}
	return read(c)
}

// close waits for reads that run, and closes the connections. Later reads fail.
func (r *readers) close() error {
	var err error
	for range readersAtMost {
		if c := <-r.idle; c != nil {
			err = errors.Join(err, c.close())
		}
	}
	close(r.idle)
	return err
}
