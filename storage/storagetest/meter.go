package storagetest

import (
	"slices"
	"sync"

	"gatehouse/storage/internal/sqlstore"
)

// Meter counts a store's statements and rows, so that a test can limit costs instead of time. Set Options.Trace to its Trace method.
type Meter struct {
	mu         sync.Mutex
	statements []sqlstore.Statement
}

// Cost is the work since the last Reset: rows that queries returned, rows that were changed, and commits.
type Cost struct {
	Read, Written, Commits int
}

// Trace records one statement.
func (m *Meter) Trace(s sqlstore.Statement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = append(m.statements, s)
}

// Reset discards the recorded statements.
func (m *Meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = nil
}

// Statements returns the recorded statements in order.
func (m *Meter) Statements() []sqlstore.Statement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.statements)
}

// Cost returns the sums over the recorded statements.
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
