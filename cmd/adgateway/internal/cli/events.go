package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adgateway/winsvc/events"
)

// listedEvent is an event as the JSON output lists it.
type listedEvent struct {
	ID    uint32 `json:"id"`
	Level string `json:"level"`
	Name  string `json:"name"`
	About string `json:"about"`
}

func eventsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:  "events",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all := []listedEvent{}
			for _, e := range events.List() {
				all = append(all, listedEvent{e.ID, e.Level.String(), e.Name, e.About})
			}
			return show(c, all, func(w io.Writer) (err error) {
				for _, e := range all {
					_, more := fmt.Fprintf(w, "%d  %-11s  %-25s  %s\n", e.ID, e.Level, e.Name, e.About)
					err = errors.Join(err, more)
				}
				return err
			})
		},
	}
	jsonFlag(c)
	return c
}
