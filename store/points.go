package store

import (
	"math"
	"strconv"
	"strings"
)

// MaxDecimals is the largest number of decimals that a board may have.
const MaxDecimals = 9

// MaxUnits bounds points in whole units: beyond 2^53 a sorted-set score is not exact.
const MaxUnits = 1<<53 - 1

// Points are fixed-point: whole units of 10^-decimals, where decimals is a setting of the board. 1.50 on a board with
// two decimals is 150.
type Points int64

// Append writes the points as a JSON number with all decimals, never in exponent form and never as -0.
func (p Points) Append(to []byte, decimals int) []byte {
	if decimals == 0 {
		return strconv.AppendInt(to, int64(p), 10)
	}
	size := uint64(p)
	if p < 0 {
		to = append(to, '-')
		size = uint64(-p)
	}
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], size, 10)
	for range decimals + 1 - len(text) {
		text = append(text, 0)
		copy(text[1:], text)
		text[0] = '0'
	}
	to = append(to, text[:len(text)-decimals]...)
	to = append(to, '.')
	return append(to, text[len(text)-decimals:]...)
}

// Text returns the points as [Points.Append] writes them.
func (p Points) Text(decimals int) string { return string(p.Append(nil, decimals)) }

// Decimal is a number as a client wrote it, exact: Digits × 10^-Decimals, without trailing zeros after the point.
// It becomes [Points] when the board, and so its decimals, is known.
type Decimal struct {
	digits   int64 // at most 18 digits
	decimals int   // 0 … 18; may be negative for 1e3, where digits is 1 and decimals is -3
}

// maxDigits is how many digits a Decimal may have; no board takes more than sixteen.
const maxDigits = 18

// ParseDecimal reads a number in the grammar of JSON (RFC 8259, section 6), exactly, never through a float. 1e3, 1000
// and 1000.0 are one number. The error is an [InvalidError] for the given field.
func ParseDecimal(field, text string) (Decimal, error) {
	digits, exponent, negative, ok := splitNumber(text)
	if !ok {
		return Decimal{}, Invalid(field, "must be a number as JSON writes it")
	}
	if digits == "" {
		return Decimal{}, nil
	}
	if len(digits) > maxDigits || exponent > maxDigits {
		return Decimal{}, Invalid(field, "is out of range or has too many digits")
	}
	if exponent < -maxDigits {
		return Decimal{}, Invalid(field, "has too many decimals")
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return Decimal{}, Invalid(field, "is out of range or has too many digits")
	}
	if negative {
		value = -value
	}
	return Decimal{digits: value, decimals: -exponent}, nil
}

// splitNumber returns a JSON number as digits without outer zeros ("" for zero) times ten to the exponent. Exponents
// beyond a billion come back as a billion: no text is long enough to make up for one.
func splitNumber(text string) (digits string, exponent int, negative, ok bool) {
	text, negative = strings.CutPrefix(text, "-")
	mantissa, power, hasPower := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || hasFraction && !isDigits(fraction) {
		return "", 0, false, false
	}
	if hasPower {
		if exponent, ok = parseExponent(power); !ok {
			return "", 0, false, false
		}
	}
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	return trimmed, exponent + len(digits) - len(trimmed), negative, true
}

func parseExponent(text string) (int, bool) {
	sign := 1
	switch {
	case strings.HasPrefix(text, "-"):
		sign, text = -1, text[1:]
	case strings.HasPrefix(text, "+"):
		text = text[1:]
	}
	if !isDigits(text) {
		return 0, false
	}
	text = strings.TrimLeft(text, "0")
	const huge = 1_000_000_000
	if len(text) > 9 {
		return sign * huge, true
	}
	value, _ := strconv.Atoi("0" + text) // nine digits at most: cannot fail
	return sign * value, true
}

func isDigits(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Whole returns the decimal of a whole number of points.
func Whole(points int64) Decimal { return Decimal{digits: points} }

// Points returns the number in whole units of 10^-decimals, or an [InvalidError] for the field when it has more
// decimals than that or its size is over limit units. Nothing is ever rounded.
func (d Decimal) Points(field string, decimals int, limit Points) (Points, error) {
	if d.digits == 0 {
		return 0, nil
	}
	if d.decimals > decimals {
		return 0, Invalid(field, "has too many decimals: this board keeps "+strconv.Itoa(decimals))
	}
	units := d.digits
	for range decimals - d.decimals {
		if units > math.MaxInt64/10 || units < math.MinInt64/10 {
			return 0, outOfRange(field, decimals, limit)
		}
		units *= 10
	}
	if Points(units) > limit || Points(units) < -limit {
		return 0, outOfRange(field, decimals, limit)
	}
	return Points(units), nil
}

func outOfRange(field string, decimals int, limit Points) error {
	size := limit.Text(decimals)
	return Invalid(field, "is out of range: this board takes -"+size+" to "+size)
}
