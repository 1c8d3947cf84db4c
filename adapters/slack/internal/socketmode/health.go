package socketmode

import "gatehouse/core"

// Err returns nil while a connection is open, else the reason why none is (law 9).
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return core.Errorf(core.DeliveryLater, "No Socket Mode connection to Slack is open, so no event arrives.")
	}
	return nil
}

func (c *Client) setOpen(k *conn, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[*conn]bool{}
	}
	if delete(c.open, k); open {
		c.open[k] = true
	}
}
