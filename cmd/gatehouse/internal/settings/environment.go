package settings

import (
	"os"
	"sync"
)

// environment holds changes to the variables of this process, which are the only ones that envconfig reads. They last until restore;
// until then nobody else can change them.
type environment struct {
	before map[string]*string // of each variable that was changed; nil: it was not set
}

var changing sync.Mutex

func changeEnvironment() *environment {
	changing.Lock()
	return &environment{before: map[string]*string{}}
}

// set gives a variable a value. Error: the value can't be one of a variable.
func (e *environment) set(key, value string) error {
	if old, found := os.LookupEnv(key); found && old == value {
		return nil
	}
	e.remember(key)
	return os.Setenv(key, value)
}

// unset takes a variable away.
func (e *environment) unset(key string) {
	e.remember(key)
	_ = os.Unsetenv(key) // it fails for no name
}

func (e *environment) remember(key string) {
	if _, changed := e.before[key]; changed {
		return
	}
	e.before[key] = nil
	if value, found := os.LookupEnv(key); found {
		e.before[key] = &value
	}
}

// restore undoes the changes.
func (e *environment) restore() {
	for key, value := range e.before {
		if value == nil {
			_ = os.Unsetenv(key)
		} else {
			_ = os.Setenv(key, *value) // a value that it had before
		}
	}
	changing.Unlock()
}
