package core

import "unicode/utf8"

// MaxValue is how many bytes a value of KV.Put and KV.PutFor may have.
const MaxValue = 64 << 10

// CheckValue refuses (invalid) a value that KV.Put does not accept. Every store calls it, so that all accept the same values.
func CheckValue(name, value string) error {
	switch {
	case len(value) > MaxValue:
		return Errorf(Invalid, "The value of %s has %d bytes. The limit is %d bytes.", name, len(value), MaxValue)
	case !utf8.ValidString(value):
		return Errorf(Invalid, "The value of %s is not valid UTF-8.", name)
	}
	return nil
}
