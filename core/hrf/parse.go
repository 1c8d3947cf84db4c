package hrf

// Parse reads and checks an envelope. The envelope is nil if the report has an error.
func Parse(text []byte, p Profile) (*Envelope, *Report) {
	return nil, &Report{}
}
