package providers

import (
	"bytes"
	"errors"
	"slices"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
)

// malformed reports whether an extra setting of stop sequences is one that a vendor's list can't be made of.
func (s *scope) malformed(c *call) (key string, value any, err error) {
	key, value = c.extraStop()
	list, isList := value.([]any)
	_, isText := value.(string)
	isOther := func(one any) bool {
		_, isText := one.(string)
		return !isText
	}
	switch {
	case key == "":
		return key, value, errors.New("no extra setting has stop sequences")
	case isList && !slices.ContainsFunc(list, isOther), isText && s.mock.mapping != "anthropic":
		return key, value, errors.New("the extra stop sequences are well formed")
	}
	return key, value, nil
}

func stopIsDeclared(_ *scope, c *call) error {
	if len(c.sent) == 0 || len(c.request.Config.StopSequences) == 0 {
		return errors.New("nothing was sent, or no stop sequences are declared")
	}
	key, _ := c.extraStop()
	if key == "" {
		return errors.New("no extra setting has stop sequences")
	}
	return require(fixture.Equal(c.request.Config.StopSequences, c.lastBody()[key]),
		"%s is %v on the wire", key, c.lastBody()[key])
}

func malformedStopAnswered(s *scope, c *call) error {
	_, _, err := s.malformed(c)
	return errors.Join(err, require(c.answered, "the call failed: %v", c.err))
}

func malformedStopAbsent(s *scope, c *call) error {
	key, _, err := s.malformed(c)
	if err != nil || len(c.request.Config.StopSequences) > 0 {
		return errors.Join(err, stopIsDeclared(s, c))
	}
	_, there := c.lastBody()[key]
	return require(len(c.sent) > 0 && !there, "%s is %v on the wire", key, c.lastBody()[key])
}

func malformedListNotSalvaged(s *scope, c *call) error {
	_, value, err := s.malformed(c)
	list, isList := value.([]any)
	if err != nil || !isList {
		return errors.Join(err, require(isList, "the extra stop sequences are %v", value))
	}
	return errors.Join(malformedStopAbsent(s, c),
		require(len(list) > 0 && len(c.sent) > 0, "there is nothing to be salvaged"))
}

func scalarNotCoerced(s *scope, c *call) error {
	_, value, err := s.malformed(c)
	_, isText := value.(string)
	return errors.Join(err, require(isText && s.mock.mapping == "anthropic", "it is %v at %s", value, s.mock.mapping),
		malformedStopAbsent(s, c))
}

// temperatures are the declared temperature and the extra one.
func temperatures(c *call) (declared float64, extra any, err error) {
	text, set := c.request.Config.Extra["temperature"]
	if c.request.Config.Temperature == nil || !set {
		return 0, nil, errors.New("there are no two temperatures")
	}
	return *c.request.Config.Temperature, fixture.Plain(text), nil
}

func temperatureConflictRejected(s *scope, c *call) error {
	declared, extra, err := temperatures(c)
	return errors.Join(err, require(extra != declared, "the two temperatures are equal"), nothingSent(s, c),
		invalidRequest(s, c))
}

func temperatureMatches(s *scope, c *call) error {
	declared, extra, err := temperatures(c)
	return errors.Join(err, require(extra == declared, "the two temperatures differ"),
		require(c.answered, "the call failed: %v", c.err), temperatureOnce(s, c))
}

func temperatureOnce(_ *scope, c *call) error {
	declared := c.request.Config.Temperature
	if declared == nil || len(c.sent) == 0 {
		return errors.New("no temperature is declared, or nothing was sent")
	}
	for _, sent := range c.sent {
		if n := bytes.Count(sent.Body, []byte(`"temperature":`)); n != 1 {
			return require(false, "the request has %d temperatures", n)
		}
	}
	return require(c.lastBody()["temperature"] == *declared, "temperature is %v on the wire",
		c.lastBody()["temperature"])
}

// extraStream is the extra setting stream, and whether it contradicts the call.
func extraStream(c *call) (value any, conflict bool, err error) {
	extra, set := c.request.Config.Extra["stream"]
	if !set {
		return nil, false, errors.New("there is no extra setting stream")
	}
	value = fixture.Plain(extra)
	return value, value != c.request.Stream, nil
}

func streamConflict(s *scope, c *call) error {
	value, conflict, err := extraStream(c)
	return errors.Join(err, require(conflict, "stream is %v, as the call says", value), nothingSent(s, c),
		invalidRequest(s, c))
}

func streamConflictOf(streamed bool) func(*scope, *call) error {
	return func(s *scope, c *call) error {
		return errors.Join(streamConflict(s, c),
			require(c.request.Stream == streamed, "the call is streamed: %t", c.request.Stream))
	}
}

// atomicStreamConflict is about a mapping for which the specification has no streams: Anthropic's, and the stub.
func atomicStreamConflict(s *scope, c *call) error {
	return errors.Join(streamConflictOf(false)(s, c),
		require(s.mock.mapping == "anthropic" || s.mock.mapping == stub, "the mapping is %q", s.mock.mapping))
}

func streamManagedAtOnce(s *scope, c *call) error {
	_, conflict, err := extraStream(c)
	if err != nil || conflict {
		return errors.Join(err, streamConflictOf(false)(s, c))
	}
	return streamMatches(false)(s, c)
}

func streamMatches(streamed bool) func(*scope, *call) error {
	return func(s *scope, c *call) error {
		_, conflict, err := extraStream(c)
		if err = errors.Join(err,
			require(!conflict && c.request.Stream == streamed, "the extra setting is no repetition"),
			require(c.answered, "the call failed: %v", c.err)); err != nil {
			return err
		}
		if streamed {
			return require(c.lastBody()["stream"] == true, "stream is %v on the wire", c.lastBody()["stream"])
		}
		return noStreamKey(s, c)
	}
}

func streamNotSmuggled(_ *scope, c *call) error {
	_, _, err := extraStream(c)
	for _, sent := range c.sent {
		body, _ := bodyOf(sent.Body).(map[string]any)
		if _, there := body["stream"]; there != c.request.Stream {
			err = errors.Join(err, require(false, "stream is %v on the wire", body["stream"]))
		}
	}
	return err
}

func noStreamKey(_ *scope, c *call) error {
	_, there := c.lastBody()["stream"]
	_, options := c.lastBody()["stream_options"]
	return require(len(c.sent) > 0 && !there && (!options || c.request.Config.Extra["stream_options"] != nil),
		"after %d requests, stream is %v", len(c.sent), c.lastBody()["stream"])
}

func optionsConflict(s *scope, c *call) error {
	extra, set := c.request.Config.Extra["stream_options"]
	usage, _ := fixture.Plain(extra).(map[string]any)
	conflicts := set && !fixture.Equal(usage, map[string]any{"include_usage": true})
	return errors.Join(require(c.request.Stream && conflicts, "no extra setting contradicts the options of a stream"),
		nothingSent(s, c), invalidRequest(s, c))
}

func optionsUntouched(_ *scope, c *call) error {
	extra, set := c.request.Config.Extra["stream_options"]
	if !set || c.request.Stream || !c.answered {
		return errors.New("no call at once was answered that has options of a stream")
	}
	_, stream := c.lastBody()["stream"]
	return require(!stream && fixture.Equal(extra, c.lastBody()["stream_options"]), "stream_options is %v on the wire",
		c.lastBody()["stream_options"])
}

func invalidRequest(_ *scope, c *call) error {
	return require(core.CategoryOf(c.err) == core.ProviderInvalidRequest, "the error is %v", c.err)
}
