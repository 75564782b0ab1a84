package dotnet

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Decimal is System.Decimal: a sign, 96 bits and a scale of 0 to 28. Equal
// numbers with different scales (1.0 and 1.00) are different Go values: use Cmp.
type Decimal struct {
	hi, mid, lo uint32
	scale       uint8
	negative    bool
}

const maxScale = 28

var (
	maxMantissa = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(1))
	ten         = big.NewInt(10)
)

func pow10(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

func (d Decimal) mantissa() *big.Int {
	m := new(big.Int).SetUint64(uint64(d.hi)<<32 | uint64(d.mid))
	m.Lsh(m, 32).Or(m, new(big.Int).SetUint64(uint64(d.lo)))
	if d.negative {
		m.Neg(m)
	}
	return m
}

// newDecimal makes m/10^scale, rounding half to even where it must drop digits;
// ok is false on overflow.
func newDecimal(m *big.Int, scale int) (Decimal, bool) {
	m = new(big.Int).Set(m)
	negative := m.Sign() < 0
	m.Abs(m)
	if scale < 0 {
		m.Mul(m, pow10(-scale))
		scale = 0
	}
	drop := max(scale-maxScale, 0)
	if over := len(m.String()) - 30; over > drop {
		drop = min(over, scale)
	}
	for tries := drop; ; tries++ {
		r := roundedQuotient(m, tries)
		if r.Cmp(maxMantissa) <= 0 {
			m, scale = r, scale-tries
			break
		}
		if tries >= scale {
			return Decimal{}, false
		}
	}
	lo := new(big.Int).And(m, big.NewInt(math.MaxUint32)).Uint64()
	high := new(big.Int).Rsh(m, 32).Uint64()
	return Decimal{
		hi: uint32(high >> 32), mid: uint32(high), lo: uint32(lo),
		scale: uint8(scale), negative: negative && m.Sign() != 0,
	}, true
}

// roundedQuotient is m/10^n, half to even.
func roundedQuotient(m *big.Int, n int) *big.Int {
	if n == 0 {
		return m
	}
	unit := pow10(n)
	q, r := new(big.Int).QuoRem(m, unit, new(big.Int))
	switch r.Lsh(r, 1).CmpAbs(unit) {
	case 1:
		q.Add(q, big.NewInt(int64(m.Sign())))
	case 0:
		if q.Bit(0) == 1 {
			q.Add(q, big.NewInt(int64(m.Sign())))
		}
	}
	return q
}

// DecimalFromInt makes a whole number.
func DecimalFromInt(n int64) Decimal {
	d, _ := newDecimal(big.NewInt(n), 0)
	return d
}

func decimalFromUint(n uint64) Decimal {
	d, _ := newDecimal(new(big.Int).SetUint64(n), 0)
	return d
}

// decimalFromFloat keeps 15 significant digits, as .NET does.
func decimalFromFloat(f float64, digits int) (Decimal, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Decimal{}, false
	}
	d, ok := ParseDecimal(strconv.FormatFloat(f, 'e', digits-1, 64))
	return d.trim(), ok
}

func (d Decimal) trim() Decimal {
	m, scale := d.mantissa(), int(d.scale)
	for scale > 0 {
		q, r := new(big.Int).QuoRem(m, ten, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		m, scale = q, scale-1
	}
	t, _ := newDecimal(m, scale)
	return t
}

// ParseDecimal reads digits with an optional sign, point and exponent.
func ParseDecimal(s string) (Decimal, bool) {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	scale := 0
	if hasExponent {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > 60 || e < -400 {
			return Decimal{}, false
		}
		scale = -e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	scale += len(fraction)
	digits := whole + fraction
	bare := strings.TrimLeft(digits, "+-")
	if bare == "" || len(digits)-len(bare) > 1 || strings.Trim(bare, "0123456789") != "" || len(bare) > 1000 {
		return Decimal{}, false
	}
	m, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return Decimal{}, false
	}
	return newDecimal(m, scale)
}

// String writes the number with all digits of its scale.
func (d Decimal) String() string {
	m := d.mantissa()
	digits := new(big.Int).Abs(m).String()
	if scale := int(d.scale); scale > 0 {
		if len(digits) <= scale {
			digits = strings.Repeat("0", scale-len(digits)+1) + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if m.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// Float is the nearest double.
func (d Decimal) Float() float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // the text is a number
	return f
}

// Cmp compares two numbers.
func (d Decimal) Cmp(e Decimal) int {
	a, b, _ := alignDecimals(d, e)
	return a.Cmp(b)
}

func alignDecimals(d, e Decimal) (a, b *big.Int, scale int) {
	a, b = d.mantissa(), e.mantissa()
	switch {
	case d.scale < e.scale:
		a.Mul(a, pow10(int(e.scale-d.scale)))
	case d.scale > e.scale:
		b.Mul(b, pow10(int(d.scale-e.scale)))
	}
	return a, b, int(max(d.scale, e.scale))
}

func (d Decimal) add(e Decimal) (Decimal, bool) {
	a, b, scale := alignDecimals(d, e)
	return newDecimal(a.Add(a, b), scale)
}

func (d Decimal) neg() Decimal {
	d.negative = !d.negative && d.mantissa().Sign() != 0
	return d
}

func (d Decimal) mul(e Decimal) (Decimal, bool) {
	m := d.mantissa()
	return newDecimal(m.Mul(m, e.mantissa()), int(d.scale)+int(e.scale))
}

// div divides by e, which is not zero: as many digits as fit, no more than needed.
func (d Decimal) div(e Decimal) (Decimal, bool) {
	a, b := d.mantissa(), e.mantissa()
	shift := maxScale + 2
	a.Mul(a, pow10(shift))
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 { // keep what was dropped from turning a half into a tie
		q.Mul(q, ten)
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
		shift++
	}
	result, ok := newDecimal(q, int(d.scale)-int(e.scale)+shift)
	if !ok {
		return result, false
	}
	natural := max(int(d.scale)-int(e.scale), 0)
	t := result.trim()
	if int(t.scale) < natural {
		m := t.mantissa()
		return newDecimal(m.Mul(m, pow10(natural-int(t.scale))), natural)
	}
	return t, true
}

func (d Decimal) rem(e Decimal) (Decimal, bool) {
	a, b, scale := alignDecimals(d, e)
	return newDecimal(a.Rem(a, b), scale)
}

// round keeps n decimals, half to even or away from zero.
func (d Decimal) round(n int, away bool) Decimal {
	drop := int(d.scale) - n
	if drop <= 0 {
		return d
	}
	m := d.mantissa()
	if away {
		half := new(big.Int).Quo(pow10(drop), big.NewInt(2))
		if m.Sign() < 0 {
			half.Neg(half)
		}
		m.Quo(m.Add(m, half), pow10(drop))
	} else {
		m = roundedQuotient(m, drop)
	}
	r, _ := newDecimal(m, n)
	return r
}

// integer is the value rounded to a whole number, half to even.
func (d Decimal) integer() *big.Int { return d.round(0, false).mantissa() }
