package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
	"gopkg.in/natefinch/lumberjack.v2"

	"adgateway/gateway/accesslog"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/visible"
	"adgateway/winsvc/host"
)

// NewLog returns a log that writes to w and escapes hidden characters.
func NewLog(c config.Log, w io.Writer) *logrus.Logger {
	log := logrus.New()
	TuneLog(log, c)
	log.SetOutput(visible.Writer(w)) // the JSON formatter does not escape hidden characters
	return log
}

// OpenLog returns a log that writes to log.file, and writes the path of that file to w. Without log.file it
// writes to w. The caller must close the closer.
func OpenLog(c config.Log, w io.Writer) (*logrus.Logger, io.Closer, error) {
	if c.File == "" {
		return NewLog(c, w), io.NopCloser(nil), nil
	}
	// lumberjack opens the file on the first entry and does not report errors.
	err := os.MkdirAll(filepath.Dir(c.File), 0o755)
	if err == nil {
		err = host.Writable(c.File)
	}
	if err != nil {
		return nil, nil, filefault.Explain("log.file", err)
	}
	fmt.Fprintf(w, "logging to %s\n", c.File)
	rotating := &lumberjack.Logger{Filename: c.File, MaxSize: c.MaxSize, MaxBackups: c.MaxFiles}
	return NewLog(c, appending{rotating, c.File}), rotating, nil
}

// appending falls back to appending when the log file cannot be rotated, because Windows
// does not rename a file while another process, such as 'Get-Content -Wait', has
// it open.
type appending struct {
	rotating io.Writer
	file     string
}

func (a appending) Write(entry []byte) (int, error) {
	n, err := a.rotating.Write(entry)
	if err == nil || n > 0 {
		return n, err
	}
	file, openErr := os.OpenFile(a.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if openErr != nil {
		return 0, errors.Join(err, openErr)
	}
	n, err = file.Write(entry)
	return n, errors.Join(err, file.Close())
}

// TuneLog applies the settings that may change while the gateway runs.
func TuneLog(log *logrus.Logger, c config.Log) {
	level, err := logrus.ParseLevel(c.Level)
	if err != nil {
		level = logrus.InfoLevel
	}
	log.SetLevel(level)
	if c.Format == "json" {
		log.SetFormatter(accesslog.JSON())
	} else {
		log.SetFormatter(accesslog.Text())
	}
}

// OneLine joins the lines of an error for a log entry.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// WarnFormer logs which settings belong to an earlier version.
func WarnFormer(log logrus.FieldLogger, s *config.Settings) {
	for _, sentence := range s.Former.Advice() {
		log.Warn(sentence)
	}
}
