package dotnet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	when := date("2024-01-02T03:04:05.678")
	for _, c := range []struct {
		format string
		arg    any
		want   string
	}{
		{"{{}} {0}", int32(1), "{} 1"}, {"{0}", nil, ""}, {"{0,5}|{0,-5}|", "ab", "   ab|ab   |"}, {"{0,5:N1}|", 3.14159, "  3.1|"},
		{"{0:D3}", int32(7), "007"}, {"{0:D3}", int32(-7), "-007"}, {"{0:x}", int32(255), "ff"}, {"{0:X4}", int32(-1), "FFFFFFFF"}, {"{0:x2}", uint8(5), "05"},
		{"{0:N2}", 1234.567, "1,234.57"}, {"{0:N0}", int32(1234567), "1,234,567"}, {"{0:F1}", 2.25, "2.3"}, {"{0:F0}", -0.4, "-0"}, {"{0:P1}", 0.256, "25.6 %"},
		{"{0:E2}", 1234.567, "1.23E+003"}, {"{0:e1}", 12345.678, "1.2e+004"}, {"{0:G3}", 1234.5, "1.23E+03"}, {"{0:G5}", 1234.5, "1234.5"}, {"{0:C}", dec("5.5"), "¤5.50"},
		{"{0:00.0}", 1234.5, "1234.5"}, {"{0:00.0}", 1.25, "01.3"}, {"{0:#,##0.##}", 1234.5, "1,234.5"}, {"{0:000}", int32(7), "007"}, {"{0:0%}", 0.5, "50%"},
		{"{0:#;(#);zero}", int32(-5), "(5)"}, {"{0:#;(#);zero}", int32(0), "zero"}, {"{0:'n='0}", int32(5), "n=5"}, {"{0:0.00}", dec("1.005"), "1.01"},
		{"{0:yyyy-MM-dd HH:mm:ss.fff}", when, "2024-01-02 03:04:05.678"}, {"{0:o}", when, "2024-01-02T03:04:05.6780000"}, {"{0:d}", when, "01/02/2024"},
		{"{0:s}", when, "2024-01-02T03:04:05"}, {"{0:R}", DateTime{when.Ticks, UTC}, "Tue, 02 Jan 2024 03:04:05 GMT"}, {"{0:ddd d MMM yy h:m t}", when, "Tue 2 Jan 24 3:4 A"},
		{"{0:yyyy-MM-ddTHH:mm:ssZ}", when, "2024-01-02T03:04:05Z"}, {"{0:HH\\hmm}", when, "03h04"}, {"{0:s.FFFF}", when, "5.678"}, {"{0:%d}", when, "2"},
		{"{0:hh\\:mm}", TimeSpan(ticksPerSecond * 5400), "01:30"}, {"{0:g}", TimeSpan(ticksPerDay + 5), "1:0:00:00.0000005"}, {"{0:D}", Enum{Lookup("DayOfWeek"), 1}, "1"},
		{"{0:B}", Guid{}, "{00000000-0000-0000-0000-000000000000}"}, {"{0:N}", Guid{}, "00000000000000000000000000000000"}, {"{0:x}", "text", "text"},
		{"{0", int32(1), "!Input string was not in a correct format. Failure to parse near offset 2. Format item ends prematurely."},
		{"{a}", int32(1), "!Input string was not in a correct format. Failure to parse near offset 1. Expected an ASCII digit."},
		{"0}", int32(1), "!Input string was not in a correct format. Failure to parse near offset 1. Unexpected closing brace without a corresponding opening brace."},
		{"{0:D}", 1.5, "!Format specifier was invalid."}, {"{0:Q}", when, "!Input string was not in a correct format."},
	} {
		got, err := composite(c.format, []any{c.arg})
		if err != nil {
			got = "!" + err.Error()
		}
		assert.Equal(t, c.want, got, "%s %v", c.format, c.arg)
	}
}

func TestDateArithmetic(t *testing.T) {
	d, ok := DateTimeFromFileTime(133500000000000000)
	require.True(t, ok)
	assert.Equal(t, "2024-01-17T21:20:00.0000000Z", d.Format("o"))
	assert.Equal(t, int64(133500000000000000), d.FileTime())
	for _, c := range []struct{ method, want string }{{"AddMonths", "2024-02-29"}, {"AddYears", "2025-01-31"}, {"AddDays", "2024-02-01"}} {
		v, err := CallMethod(date("2024-01-31"), c.method, []any{int32(1)})
		require.NoError(t, err)
		assert.Equal(t, c.want, v.(DateTime).Format("yyyy-MM-dd"), c.method)
	}
	_, err := CallStatic(TDateTime, "new", []any{int32(2024), int32(2), int32(30)})
	assert.Equal(t, "ArgumentOutOfRangeException", AsRecord(err).ErrorID)
}

func TestDateKinds(t *testing.T) {
	zone := LocalZone
	defer func() { LocalZone = zone }()
	LocalZone = time.FixedZone("test", 2*3600)
	d := date("2024-05-06T07:08:09Z")
	assert.Equal(t, Local, d.Kind)
	assert.Equal(t, "2024-05-06T09:08:09.0000000+02:00", d.Format("o"))
	assert.Equal(t, "2024-05-06T07:08:09.0000000Z", d.ToUTC().Format("o"))
	assert.Equal(t, Unspecified, date("2024-05-06T07:08:09").Kind)
	assert.Equal(t, "2024-05-06T05:08:09.0000000Z", date("2024-05-06T07:08:09").ToUTC().Format("o"))
	assert.Equal(t, d.Time().UTC(), time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC))
	assert.Equal(t, d, DateTimeOf(d.Time(), Local))
}

func TestParseExact(t *testing.T) {
	exact := func(s, format string) string {
		v, err := dateParseExact(s, []string{format}, 0)
		if err != nil {
			return err.Error()
		}
		return v.(DateTime).Format("s")
	}
	assert.Equal(t, "2024-01-02T00:00:00", exact("20240102", "yyyyMMdd"))
	assert.Equal(t, "2024-01-02T13:05:00", exact("2 Jan 2024 1:05 PM", "d MMM yyyy h:mm tt"))
	assert.Equal(t, "String '2024-1-2' was not recognized as a valid DateTime.", exact("2024-1-2", "yyyy-MM-dd"))
	assert.Equal(t, "String '20240102x' was not recognized as a valid DateTime.", exact("20240102x", "yyyyMMdd"))
	v, err := dateParseExact("20240102030405.0Z", []string{"yyyyMMddHHmmss.f'Z'"}, 64|16)
	require.NoError(t, err)
	assert.Equal(t, "2024-01-02T03:04:05.0000000Z", v.(DateTime).Format("o"))
}
