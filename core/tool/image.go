package tool

import (
	"context"
	"slices"

	"gatehouse/core"
)

// Limits of the images of one result: what model vendors take.
const (
	maxImages     = 8
	maxImageBytes = 5 << 20
)

// imageTypes are the images that models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// Image gives an image beside the text that a Do returns: the model is shown it after the results, if it takes images.
// kind is the media type that its bytes have. It reports whether that is so; outside a turn, for a type that models
// don't read, and above the limits it is not. The text should name the image.
func Image(ctx context.Context, kind string, data []byte) bool {
	r, ok := ctx.Value(returnedKey{}).(*returned)
	turn, _ := core.TurnFrom(ctx)
	if !ok || turn.Images == nil || len(r.images) == maxImages || len(data) > maxImageBytes ||
		!slices.Contains(imageTypes, kind) {
		return false
	}
	digest, err := turn.Images.KeepImage(ctx, data)
	if err != nil {
		return false
	}
	r.images = append(r.images, core.StoredImage(kind, digest, len(data)))
	return true
}
