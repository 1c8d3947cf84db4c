package sqlstore

import "sync"

// Statement is one SQL statement that was run, for tests and measurements: the rows that a query gave, or that a change changed.
// A transaction's begin, commit and rollback are among them.
type Statement struct {
	SQL     string
	Write   bool
	Rows    int
	Changed int64
}

// Meter counts what a store does, so that a test can hold costs to a number instead of a time. Give its Trace in Options.
type Meter struct {
	mu         sync.Mutex
	statements []Statement
}

// Cost is what was done since the last Reset: rows that queries gave, rows that changes touched, commits.
type Cost struct {
	Read, Written, Commits int
}

// Trace notes one statement.
func (m *Meter) Trace(s Statement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = append(m.statements, s)
}

// Reset forgets.
func (m *Meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = nil
}

// Statements gives what was run, in order.
func (m *Meter) Statements() []Statement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Statement(nil), m.statements...)
}

// Cost adds up.
func (m *Meter) Cost() Cost {
	var c Cost
	for _, s := range m.Statements() {
		c.Read += s.Rows
		switch s.SQL {
		case "commit":
			c.Commits++
		case "begin immediate", "rollback", "savepoint unit", "release unit", "rollback to unit":
		default:
			c.Written += int(s.Changed)
		}
	}
	return c
}
