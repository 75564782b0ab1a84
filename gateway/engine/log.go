package engine

import (
	"fmt"
	"io"

	"github.com/sirupsen/logrus"
)

// serverLog passes the server's messages to logrus, and keeps the first fatal one.
type serverLog struct {
	to    logrus.FieldLogger
	fatal chan string // receives the first fatal message
}

func newServerLog(to logrus.FieldLogger) *serverLog {
	if to == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		to = silent
	}
	return &serverLog{to: to, fatal: make(chan string, 1)}
}

func (l *serverLog) Noticef(format string, values ...any) { l.to.Infof(format, values...) }
func (l *serverLog) Warnf(format string, values ...any)   { l.to.Warnf(format, values...) }
func (l *serverLog) Errorf(format string, values ...any)  { l.to.Errorf(format, values...) }
func (l *serverLog) Debugf(format string, values ...any)  { l.to.Debugf(format, values...) }
func (l *serverLog) Tracef(format string, values ...any)  { l.to.Debugf(format, values...) }

// Fatalf does not end the process, as the server's own logger would. [Start] returns the message.
func (l *serverLog) Fatalf(format string, values ...any) {
	l.to.Errorf(format, values...)
	select {
	case l.fatal <- fmt.Sprintf(format, values...):
	default:
	}
}
