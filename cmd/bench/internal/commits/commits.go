// Package commits measures what a disk and the database driver can do at best: how often a file can be synchronized,
// and how often a row can be committed, by the connection that a store writes with.
package commits

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gatehouse/cmd/bench/internal/rate"
	"gatehouse/cmd/bench/internal/turns"
	"gatehouse/storage/sqlite"
)

// Measure returns in this order: synchronizations of a file, commits of one row by sessions that wait for each other,
// and rows of commits that hold one row of each session.
func Measure(ctx context.Context, dir string, sessions int, length time.Duration) ([]rate.Sample, error) {
	synced, err := syncs(ctx, filepath.Join(dir, "file"), length)
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, filepath.Join(dir, "rows.db"))
	if err != nil {
		return nil, fmt.Errorf("opening a database: %w", err)
	}
	single, err := rate.During(ctx, sessions, length, func(context.Context, int) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.row() // without a transaction of its own, so it is one
	})
	if err == nil {
		var grouped rate.Sample
		grouped, err = rate.During(ctx, 1, length, func(context.Context, int) error { return c.rows(sessions) })
		grouped.Done *= sessions
		return []rate.Sample{synced, single, grouped}, errors.Join(err, c.close())
	}
	return nil, errors.Join(err, c.close())
}

// pageSize is how much is written before a file is synchronized.
const pageSize = 4096

// syncs appends to a file, and synchronizes it each time.
func syncs(ctx context.Context, name string, length time.Duration) (s rate.Sample, err error) {
	f, err := os.Create(filepath.Clean(name))
	if err != nil {
		return rate.Sample{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := make([]byte, pageSize)
	return rate.During(ctx, 1, length, func(context.Context, int) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
}

// connection is the driver's connection, with the statements that it needs.
type connection struct {
	mu                    sync.Mutex
	conn                  driver.Conn
	insert, begin, commit driver.Stmt
}

// body is what a row holds, beside its number: about as much as an event.
var body = strings.Repeat("0123456789", 30)

// open makes a database of gatehouse, so that all that a store sets once is set, and opens it without one.
func open(ctx context.Context, file string) (c *connection, err error) {
	store, _, err := turns.OpenStore(ctx, "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	c = &connection{}
	if c.conn, err = sqlite.Writing(file).Connect(ctx); err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.conn.Close())
	}
	return c, nil
}

func (c *connection) prepare(ctx context.Context) error {
	create, err := c.conn.Prepare("create table bench (n integer primary key, body text not null) strict")
	if err == nil {
		err = errors.Join(run(create), create.Close())
	}
	for text, to := range map[string]*driver.Stmt{
		"insert into bench (body) values (?)": &c.insert, "begin immediate": &c.begin, "commit": &c.commit,
	} {
		if err == nil {
			*to, err = c.conn.Prepare(text)
		}
	}
	return errors.Join(err, ctx.Err())
}

// run runs a statement.
func run(s driver.Stmt, args ...driver.NamedValue) error {
	_, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
	return err
}

func (c *connection) row() error { return run(c.insert, driver.NamedValue{Ordinal: 1, Value: body}) }

// rows commits n rows.
func (c *connection) rows(n int) error {
	if err := run(c.begin); err != nil {
		return err
	}
	for range n {
		if err := c.row(); err != nil {
			return err
		}
	}
	return run(c.commit)
}

func (c *connection) close() (err error) {
	for _, closer := range []io.Closer{c.insert, c.begin, c.commit, c.conn} {
		err = errors.Join(err, closer.Close())
	}
	return err
}
