package settings

import (
	"fmt"
	"strconv"
	"strings"

	"gatehouse/cmd/gatehouse/internal/memory"
)

// Bytes is a number of bytes, with or without a unit.
type Bytes int

// Decode reads 1024, 64KiB, 1MiB, 1GiB.
func (b *Bytes) Decode(s string) error {
	number, shift := strings.TrimSpace(s), 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(n), 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n<<shift>>shift != n {
		return fmt.Errorf("%q is not a size", s)
	}
	*b = Bytes(n << shift)
	return nil
}

// Memory is how many bytes may be held: a number of bytes, or half of what the process may use.
type Memory int64

// Decode reads half, and what Bytes does.
func (m *Memory) Decode(s string) error {
	if strings.TrimSpace(s) == "half" {
		*m = Memory(memory.Half())
		return nil
	}
	var b Bytes
	err := b.Decode(s)
	*m = Memory(b)
	return err
}
