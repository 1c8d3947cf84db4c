//go:build !linux

package process

import "errors"

func usageOf(int) (Usage, error) {
	return Usage{}, errors.New("what a process uses can be read on Linux only")
}
