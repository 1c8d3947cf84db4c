package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver that fills databases
)

// BenchmarkLargeDatabase starts the program on databases that hold much: idle sessions, or turns that wait for
// approvals. One iteration is a start with 20 turns. It reports the processor time of a start, that of a turn, and the
// largest memory; each is to stay about the same.
func BenchmarkLargeDatabase(b *testing.B) {
	dir := b.TempDir()
	program, err := releasedProgram()
	noErr(b, err)
	for _, large := range []struct {
		name, agent, says string
		copies            int
	}{
		{"empty", "echo", "hello", 0}, {"sessions=10000", "echo", "hello", 10_000},
		{"sessions=100000", "echo", "hello", 100_000}, {"suspended=10000", "demo", "note add milk", 10_000},
	} {
		file := filepath.Join(dir, large.name+".db")
		talk := func(agent string, lines ...string) (cpu time.Duration, memory int64) {
			cmd := exec.Command(program, "chat")
			cmd.Env = append(inherited(), "GATEHOUSE_DATABASE_URL=sqlite:"+file, "GATEHOUSE_AGENT="+agent)
			cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v\n%s", large.name, err, out)
			}
			used := cmd.ProcessState
			return used.UserTime() + used.SystemTime(), used.SysUsage().(*syscall.Rusage).Maxrss << 10
		}
		talk(large.agent, large.says)
		multiply(b, file, large.copies)
		b.Run(large.name, func(b *testing.B) {
			const turns = 20
			var started, turned time.Duration
			var most int64
			for b.Loop() {
				start, _ := talk("echo")
				whole, memory := talk("echo", slices.Repeat([]string{"hello"}, turns)...)
				started, turned, most = started+start, turned+whole-start, max(most, memory)
			}
			n := float64(b.N)
			b.ReportMetric(started.Seconds()*1e3/n, "cpu-ms/start")
			b.ReportMetric(turned.Seconds()*1e3/n/turns, "cpu-ms/turn")
			b.ReportMetric(float64(most)/mebibyte, "MiB")
			if info, err := os.Stat(file); err == nil {
				b.ReportMetric(float64(info.Size())/mebibyte, "database-MiB")
			}
		})
	}
}

// multiply adds copies of all rows of the one conversation in a database: ids and keys get the number of their copy.
func multiply(t testing.TB, file string, copies int) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?_sync=off&_foreign_keys=off")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const mark = "console:default"
	// their new values are the same in all rows that refer to one
	ids := []string{"id", "key", "invocation", "approval", "signal", "subject"}
	for _, table := range []string{
		"queues", "events", "sessions", "messages", "paused", "approvals", "outbox", "destinations", "evidence",
	} {
		const columns = "select name, type, name = 'seq' and pk = 1 from pragma_table_info(?) order by cid"
		rows, err := db.Query(columns, table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var names, values []string
		for rows.Next() {
			var name, kind string
			var rowid bool
			if err := rows.Scan(&name, &kind, &rowid); err != nil {
				t.Fatal(err)
			}
			value := name
			switch renamed := fmt.Sprintf("replace(%s, '%s', '%[2]s' || i)", name, mark); {
			case rowid: // the database gives it
				continue
			case kind == "TEXT" && slices.Contains(ids, name):
				value = fmt.Sprintf("case when %s = '' then '' when instr(%[1]s, '%s') > 0 then %s "+
					"else %[1]s || '-' || i end", name, mark, renamed)
			case kind == "TEXT":
				value = renamed
			}
			names, values = append(names, name), append(values, value)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		insert := fmt.Sprintf(`with recursive n(i) as (select 1 where ? > 0 union all select i + 1 from n where i < ?)
			insert or ignore into %s (%s) select %s from n cross join %[1]s`,
			table, strings.Join(names, ", "), strings.Join(values, ", "))
		if _, err := db.Exec(insert, copies, copies); err != nil {
			t.Fatalf("copying the rows of %s: %v", table, err)
		}
	}
}
