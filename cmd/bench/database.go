package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3" // the driver that reads the size of a database

	"gatehouse/cmd/bench/internal/process"
)

// database is a new database for one run.
type database struct {
	url  string
	size func() (int64, error)         // in bytes
	cpu  func() (time.Duration, error) // the processor time of its processes; nil: it has none of its own
	drop func() error
}

// newDatabase makes a database: a file in a folder, or, if the URL of a Postgres server is given, one of its databases.
func newDatabase(ctx context.Context, server, dir string) (database, error) {
	if server == "" {
		return databaseFile(ctx, filepath.Join(dir, "gatehouse.db")), nil
	}
	at, err := url.Parse(server)
	if err != nil {
		return database{}, fmt.Errorf("--database: %w", err)
	}
	name := "bench_" + strings.ToLower(rand.Text()[:10])
	if err := onServer(ctx, server, "create database "+name); err != nil {
		return database{}, err
	}
	at.Path = "/" + name
	return database{
		url: at.String(),
		size: func() (size int64, err error) {
			err = query(ctx, server, func(c *pgx.Conn) error {
				return c.QueryRow(ctx, "select pg_database_size($1)", name).Scan(&size)
			})
			return size, err
		},
		cpu: func() (used time.Duration, err error) {
			var pids []int
			err = query(ctx, server, func(c *pgx.Conn) error {
				return c.QueryRow(ctx, "select coalesce(array_agg(pid), '{}') from pg_stat_activity where datname = $1",
					name).Scan(&pids)
			})
			return process.CPU("postgres", pids), err
		},
		drop: func() error {
			return onServer(context.WithoutCancel(ctx), server, "drop database "+name+" with (force)")
		},
	}, nil
}

// databaseFile is a database of SQLite. Dropping it leaves the file.
func databaseFile(ctx context.Context, file string) database {
	return database{
		url:  "sqlite:" + file,
		size: func() (int64, error) { return sqliteSize(ctx, file) },
		drop: func() error { return nil },
	}
}

// sqliteSize is the size of a database with what is still in its log.
func sqliteSize(ctx context.Context, file string) (size int64, err error) {
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "select page_count * page_size from pragma_page_count, pragma_page_size").Scan(&size)
	return size, err
}

func onServer(ctx context.Context, server, statement string) error {
	return query(ctx, server, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, statement)
		return err
	})
}

func query(ctx context.Context, server string, do func(*pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	return do(c)
}
