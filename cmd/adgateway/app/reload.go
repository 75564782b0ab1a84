package app

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/winsvc/events"
)

// reloadOnSignal reloads the settings and the certificate on SIGHUP.
func (s *Server) reloadOnSignal(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.stack.RefreshCertificate()
			s.reloaded(s.live.Reload())
		}
	}
}

// reloaded applies reloaded settings and logs the result.
func (s *Server) reloaded(change config.Change, err error) {
	if err != nil {
		s.log.WithField("faults", program.OneLine(err)).Error(
			"the settings have mistakes; the previous settings remain in effect")
		s.event(events.SettingsRefused,
			"The settings have mistakes; the previous settings remain in effect.\r\n"+err.Error())
		return
	}
	now := s.live.Now()
	if err := s.stack.Apply(now); err != nil {
		s.log.WithError(err).Error("the new settings cannot be applied")
		return
	}
	if len(change.Applied) > 0 {
		s.log.WithField("keys", strings.Join(change.Applied, ", ")).Info("settings reloaded and applied")
		s.event(events.SettingsTaken, "Settings reloaded and applied: "+strings.Join(change.Applied, ", "))
	} else {
		s.log.Info("settings reloaded; nothing that takes effect at once has changed")
	}
	program.TuneLog(s.log, now.Log)
	if len(change.Waiting) > 0 {
		s.log.WithField("keys", strings.Join(change.Waiting, ", ")).Warn(
			"these changed settings take effect at the next start: restart needed")
	}
}

// event writes an entry to the system's event log, if there is one.
func (s *Server) event(e events.Event, text string) {
	if s.options.Event != nil {
		s.options.Event(e, text)
	}
}
