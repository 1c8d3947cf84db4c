//go:build soak

package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
)

// What the file of the database may have.
const (
	maxLog  = 24 << 20 // bytes of the log: it is moved into the file from 16 MiB on, which a reader may delay
	maxFree = 0.02     // of its pages may be free
	// pages that are used, for each byte that is stored in rows and indexes: pages are not full
	maxOverhead   = 1.8
	linear        = 0.15 // by how much the bytes for an event may differ at the end from those at the beginning
	largestTables = 12   // are shown
)

// stored is what a database's file has at a moment.
type stored struct {
	page, used, free int64 // bytes of a page; bytes of pages in use; free pages
	replied          int
}

func (s stored) pages() int64 { return s.used/s.page + s.free }

func (e *endurance) stored() (s stored) {
	e.t.Helper()
	e.inDatabase(func(db *sql.DB) error {
		s.replied = e.replied()
		var count int64
		err := db.QueryRowContext(e.ctx,
			"select page_size, page_count, freelist_count from pragma_page_size, pragma_page_count, "+
				"pragma_freelist_count").Scan(&s.page, &count, &s.free)
		s.used = (count - s.free) * s.page
		return err
	})
	return s
}

func (e *endurance) inDatabase(do func(*sql.DB) error) {
	e.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+e.file+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		e.t.Fatal(err)
	}
	defer db.Close()
	if err := do(db); err != nil {
		e.t.Fatal(err)
	}
}

// checkDatabase checks, after the end of the last process, that what is stored is what was sent, and that the file
// holds nothing else.
func (e *endurance) checkDatabase() {
	s := e.stored()
	info, err := os.Stat(e.file)
	if err != nil {
		e.t.Fatal(err)
	}
	if size := s.used + s.free*s.page; info.Size() != size {
		e.t.Errorf("the file has %d bytes, its pages %d", info.Size(), size)
	}
	events := 0
	for _, p := range e.platforms {
		events += p.sent
	}
	e.t.Logf("the database has %.1f MiB, %.0f bytes for each of %d events; %d of %d pages are free", mib(info.Size()),
		float64(s.used)/float64(events), events, s.free, s.pages())
	if float64(s.free) > maxFree*float64(s.pages()) {
		e.t.Errorf("%d of %d pages are free", s.free, s.pages())
	}
	e.inDatabase(func(db *sql.DB) error {
		for query, want := range map[string]int{
			"select count(*) from events":                                  events,
			"select count(*) from events where ended_at = 0":               0,
			"select count(*) from outbox where state <> 'sent'":            0,
			"select count(*) from outbox where kind = 'reply'":             events,
			"select count(*) from messages":                                2 * events, // what was said, and the reply
			"select count(*) from queues where owner <> ''":                0,
			"select count(*) from destinations where ready_at is not null": 0,
		} {
			var got int
			if err := db.QueryRowContext(e.ctx, query).Scan(&got); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			if got != want {
				e.t.Errorf("%s: %d instead of %d", query, got, want)
			}
		}
		content, err := e.content(db)
		if err != nil {
			return err
		}
		e.explain(s, content, events)
		return nil
	})
	e.checkGrowth()
}

// content is what a table or an index holds.
type content struct {
	name        string
	rows, bytes int64
}

// explain checks that the pages hold the content, and shows where most of it is.
func (e *endurance) explain(s stored, all []content, events int) {
	var sum int64
	for _, c := range all {
		sum += c.bytes
	}
	slices.SortFunc(all, func(a, b content) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, c := range all[:min(len(all), largestTables)] {
		e.t.Logf("%-24s %9d rows %9.1f MiB %6.0f bytes for an event", c.name, c.rows, mib(c.bytes),
			float64(c.bytes)/float64(events))
	}
	e.t.Logf("rows and indexes hold %.1f MiB, %.0f bytes for an event; the pages that hold them have %.2f bytes for "+
		"each", mib(sum), float64(sum)/float64(events), float64(s.used)/float64(sum))
	if float64(s.used) > maxOverhead*float64(sum) {
		e.t.Errorf("%.1f MiB of pages hold %.1f MiB", mib(s.used), mib(sum))
	}
}

// checkGrowth checks that an event at the end takes as much as one at the beginning.
func (e *endurance) checkGrowth() {
	third := len(e.lives) / 3
	if third == 0 {
		return // reported by checkProcesses
	}
	last := len(e.lives) - 1
	each := func(from, to stored) float64 {
		return float64(to.used-from.used) / float64(max(1, to.replied-from.replied))
	}
	first, end := each(e.lives[0].stored, e.lives[third].stored), each(e.lives[last-third].stored, e.lives[last].stored)
	e.t.Logf("an event takes %.0f bytes in the first third, and %.0f in the last", first, end)
	if end > first*(1+linear) {
		e.t.Errorf("an event takes %.0f bytes in the first third, and %.0f in the last", first, end)
	}
}

// recordHead is about what each row of a table or an index takes besides its values.
const recordHead = 8

// content reads what the tables and indexes hold, as the values of their columns. Each table is read once.
func (e *endurance) content(db *sql.DB) (all []content, err error) {
	tables, err := e.strings(db,
		"select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'")
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		of := []content{{name: table}}
		columns, err := e.strings(db, "select name from pragma_table_info(?)", table)
		if err != nil {
			return nil, err
		}
		sums := []string{sumOf(columns, "true")}
		indexes, err := e.strings(db,
			`select i.name || '|' || coalesce((select sql from sqlite_schema where name = i.name), '')
			from pragma_index_list(?1) i
			where i.origin <> 'pk' or not (select wr from pragma_table_list where name = ?1)`, table)
		if err != nil {
			return nil, err
		}
		for _, index := range indexes {
			name, made, _ := strings.Cut(index, "|")
			if columns, err = e.strings(db, "select name from pragma_index_info(?)", name); err != nil {
				return nil, err
			}
			_, where, partial := strings.Cut(made, " where ")
			if !partial {
				where = "true"
			}
			of, sums = append(of, content{name: "index " + name}), append(sums, sumOf(columns, where))
		}
		var into []any
		for i := range of {
			into = append(into, &of[i].rows, &of[i].bytes)
		}
		if err := db.QueryRowContext(e.ctx,
			fmt.Sprintf("select %s from %q", strings.Join(sums, ", "), table)).Scan(into...); err != nil {
			return nil, fmt.Errorf("reading %s: %w", table, err)
		}
		all = append(all, of...)
	}
	return all, nil
}

// sumOf is an expression for the number of rows that fulfil a condition and one for the bytes of their columns.
func sumOf(columns []string, where string) string {
	size := fmt.Sprint(recordHead)
	for _, c := range columns {
		size += fmt.Sprintf(" + coalesce(iif(typeof(%[1]q) = 'integer', min(8, length(%[1]q)), length(cast(%[1]q as "+
			"blob))), 0)", c)
	}
	return fmt.Sprintf("count(*) filter (where %[2]s), coalesce(sum(%[1]s) filter (where %[2]s), 0)", size, where)
}

func (e *endurance) strings(db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(e.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
