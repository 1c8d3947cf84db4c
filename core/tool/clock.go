package tool

import (
	"context"
	"encoding/json"
	"time"

	"gatehouse/core"
)

// Clock returns the time. Arguments: {"zone": "Europe/Berlin"}, or {} for UTC.
func Clock(now func() time.Time) Tool {
	return Tool{
		Name:        "demo.time",
		Description: "Tells the date and time, in UTC or in a zone such as Europe/Berlin.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`),
		Do: func(_ context.Context, _ string, args json.RawMessage) (string, error) {
			zone := argument(args, "zone")
			if zone == "" {
				zone = "UTC"
			}
			where, err := time.LoadLocation(zone)
			if err != nil || zone == "Local" {
				return "",
					core.Wrap(core.ToolArguments, err, "Unknown time zone %q. Write it like Europe/Berlin.", zone)
			}
			return now().In(where).Format("Monday, 2 January 2006, 15:04:05 MST"), nil
		},
	}
}
