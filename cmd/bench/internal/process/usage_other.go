//go:build !linux

package process

import (
	"errors"
	"time"
)

var errLinuxOnly = errors.New("what a process uses can be read on Linux only")

func usageOf(int) (Usage, error) { return Usage{}, errLinuxOnly }

func cpuOf(int) (time.Duration, error) { return 0, errLinuxOnly }

func heldBy(int) (Held, error) { return Held{}, errLinuxOnly }
