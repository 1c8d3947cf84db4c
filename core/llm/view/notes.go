package view

import (
	"fmt"
	"regexp"

	"gatehouse/core"
)

// What is shown in place of what is not there.
const (
	emptyText = "[An empty message.]"
	goOn      = "[Not written by a person. Please go on.]"
	waits     = "This call has not run yet: it waits for a person's approval. Its result will follow. Do not " +
		"repeat it."
	waitsForOther = "This call has not run yet: a call before it waits for a person's approval. Its result will " +
		"follow. Do not repeat it."
)

// image is what a model that takes no images is shown of one.
func image(b core.Block) string {
	kind := ""
	if mediaType.MatchString(b.MediaType) {
		kind = " (" + b.MediaType + ")"
	}
	return "[An image" + kind + " was sent here. This model can't be shown images.]"
}

// imagesOf is the line above the images that a tool gave.
func imagesOf(tool string) string {
	if !toolName.MatchString(tool) {
		tool = "a tool"
	}
	return "[Not written by a person. The images that " + tool + " gave:]"
}

// came is the note where a late result came. tool is "" if its call is not shown.
func came(tool string) string {
	if tool == "" {
		return "[Not written by a person. The result of an earlier call, which is left out here, came at this point.]"
	}
	if !toolName.MatchString(tool) {
		tool = "an earlier call"
	}
	return "[Not written by a person. The result of " + tool +
		" came at this point; it stands above, next to its call. What follows is about it.]"
}

// cameTokens is what a note of came is taken to cost at most, whatever it says.
const cameTokens = 90

// leftOut is the line about what is left out.
func leftOut(n int) string {
	if n == 1 {
		return "1 earlier message of this conversation is not shown here."
	}
	return fmt.Sprintf("%d earlier messages of this conversation are not shown here.", n)
}

// Names that a note repeats.
var (
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	mediaType = regexp.MustCompile(`^[a-z]{1,20}/[a-zA-Z0-9.+-]{1,40}$`)
)
