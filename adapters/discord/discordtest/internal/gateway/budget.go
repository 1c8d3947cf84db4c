package gateway

import (
	"fmt"
	"time"
)

// Budget is the session start limit.
type Budget struct {
	Total          int
	Remaining      int
	ResetAfter     time.Duration
	MaxConcurrency int
}

// Budget returns how many identifies are left today.
func (g *Gateway) Budget() Budget {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Left(g)
}

// Left returns how many identifies are left today. The caller holds the lock.
func Left(g *Gateway) Budget {
	b := Budget{Total: g.o.IdentifyBudget, Remaining: g.o.IdentifyBudget, MaxConcurrency: g.o.MaxConcurrency}
	if left := g.dayBegan.Add(24 * time.Hour).Sub(g.o.Now()); !g.dayBegan.IsZero() && left > 0 {
		b.Remaining, b.ResetAfter = max(0, g.o.IdentifyBudget-g.dayCount), left
	}
	return b
}

// SpendIdentifies counts identifies that another program with the same token made today.
func (g *Gateway) SpendIdentifies(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dayBegan.IsZero() {
		g.dayBegan = g.o.Now()
	}
	g.dayCount += n
}

// countIdentify counts an identify. One too many within a day resets the token and ends every session.
func (g *Gateway) countIdentify(now time.Time) bool {
	if g.dayBegan.IsZero() || now.Sub(g.dayBegan) >= 24*time.Hour {
		g.dayBegan, g.dayCount = now, 0
	}
	g.dayCount++
	if g.dayCount <= g.o.IdentifyBudget {
		return true
	}
	g.o.Reset(fmt.Sprintf("the token was reset after %d identifies within a day", g.o.IdentifyBudget))
	for _, k := range g.order {
		k.dead = true
		if k.conn != nil {
			k.conn.closeWith(4004, "Authentication failed.")
		}
	}
	return false
}
