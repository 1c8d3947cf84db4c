package mcp

import (
	"gatehouse/core"
)

// drain ends a server whose entry was removed, once the calls that run have ended.
func (s *server) drain() {
	for range maxCourses {
		s.courses <- struct{}{} // a call ends by itself in the end
	}
	s.log.Info("the MCP server was removed from the configuration, or its entry changed; it is ended")
	s.end()
}

func (s *server) isRemoved() bool {
	select {
	case <-s.removed:
		return true
	default:
		return false
	}
}

// gone is the error of a call of a server whose entry was removed.
func (s *server) gone(name string) error {
	return core.Errorf(core.ToolFailed, "The tool %s is gone: its MCP server %s was removed from the configuration, or its entry changed. Nothing was done.", name, s.Name)
}

// away reports whether the server does not run now.
func (s *server) away() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session == nil
}

// listed reports whether the server's tools are known.
func (s *server) listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.known != nil
}
