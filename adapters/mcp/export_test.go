package mcp

import "time"

// Quick makes options with short times, unless they have some.
func Quick(o Options) Options {
	if o.times != (times{}) {
		return o
	}
	o.times = usual
	o.times.firstWait, o.times.lastWait = 10*time.Millisecond, 100*time.Millisecond
	o.times.start, o.times.call = time.Minute, time.Minute
	return o
}

// Impatient makes options with which a call that is not answered, or whose server is away, fails soon.
func Impatient(o Options) Options {
	o = Quick(o)
	o.times.call, o.times.wait = time.Second, 100*time.Millisecond
	return o
}

// Hasty makes options with which a server that does not start is found out soon.
func Hasty(o Options) Options {
	o = Quick(o)
	o.times.start = time.Second
	return o
}

// Pinging makes options with which a server that does not answer pings is found out soon.
func Pinging(o Options) Options {
	o = Quick(o)
	o.times.ping, o.times.pong = 50*time.Millisecond, 200*time.Millisecond
	return o
}
