package app

import (
	"maps"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/winsvc/events"
)

// logTo adapts a logger to the plain function that packages without a logging library take. Entries
// with a field "error" are logged as warnings; empty fields are dropped. An entry whose field
// "event" names an event is also written to the system's event log, regardless of the log level.
func logTo(log *logrus.Logger, write events.Write) func(string, map[string]any) {
	return func(message string, fields map[string]any) {
		events.Logged(write, message, fields)
		maps.DeleteFunc(fields, func(_ string, value any) bool { return value == "" })
		entry := log.WithFields(fields)
		entry.Time = time.Now()
		if fields["error"] != nil {
			entry.Warn(message)
		} else {
			entry.Info(message)
		}
	}
}

// debugTo is logTo for debug entries. Their fields are computed only if needed.
func debugTo(log *logrus.Logger) func(string, func() map[string]any) {
	return func(message string, fields func() map[string]any) {
		if log.IsLevelEnabled(logrus.DebugLevel) {
			log.WithFields(fields()).Debug(message)
		}
	}
}
