package store

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreReadExactlyInEverySpelling(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text     string
		decimals int
		want     string // as the board shows it
	}{
		{"1e3", 0, "1000"},
		{"1E3", 0, "1000"},
		{"1e+3", 0, "1000"},
		{"1000", 0, "1000"},
		{"1000.0", 0, "1000"},
		{"0.001e6", 0, "1000"},
		{"100000e-2", 0, "1000"},
		{"1e06", 0, "1000000"},
		{"1e+06", 0, "1000000"},
		{"1.0", 0, "1"},
		{"1.50", 1, "1.5"},
		{"1.50", 2, "1.50"},
		{"1.5", 2, "1.50"},
		{"100.000", 0, "100"},
		{"100.000", 2, "100.00"},
		{"1.1", 1, "1.1"},
		{"1.1", 9, "1.100000000"},
		{"593.21", 2, "593.21"},
		{"12.345", 3, "12.345"},
		{"0", 0, "0"},
		{"-0", 0, "0"},
		{"-0.0", 2, "0.00"},
		{"0e99", 3, "0.000"},
		{"0e-99", 3, "0.000"},
		{"0.000000000000000000000000000", 0, "0"},
		{"-5", 0, "-5"},
		{"-50", 0, "-50"},
		{"-0.05", 2, "-0.05"},
		{"0.05", 2, "0.05"},
		{"-0.5", 3, "-0.500"},
		{"1e-5", 5, "0.00001"},
		{"3000000000", 0, "3000000000"},
		{"1460000000000", 0, "1460000000000"},
		{"9007199254740991", 0, "9007199254740991"},
		{"-9007199254740991", 0, "-9007199254740991"},
		{"9007199254740.991", 3, "9007199254740.991"},
		{"9007199.254740991", 9, "9007199.254740991"},
		{"1" + strings.Repeat("0", 40) + "e-40", 0, "1"},
		{"0." + strings.Repeat("0", 40) + "1e41", 0, "1"},
		{"1." + strings.Repeat("0", 5000), 0, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.text[:min(len(tt.text), 40)], func(t *testing.T) {
			t.Parallel()
			number, err := ParseDecimal("points", tt.text)
			if err != nil {
				t.Fatalf("ParseDecimal: %v", err)
			}
			points, err := number.Points("points", tt.decimals, MaxUnits)
			if err != nil {
				t.Fatalf("Points: %v", err)
			}
			if got := points.Text(tt.decimals); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoNumberOfJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "-", "+5", "--5", " 5", "5 ", "5\n", "\t5", ".5", "5.", "-.5", "01", "-01", "00", "1_000", "1,5",
		"1.2.3", "1e", "1e+", "1e1.0", "1ee3",
		"e3", "0x10", "0X1F", "0b1", "0o7", "1f", "5n", "٣", "１", "½", "NaN", "nan", "Infinity", "inf", "-inf",
		"+inf", "∞", "null", "true", "[]", "{}",
		"\"5\"", "5\x00", "1e\x003", "5\u00a0", "1e٣", "−5", "1\u0065\u0301",
	} {
		if number, err := ParseDecimal("points", text); !isInvalid(err, "points") {
			t.Errorf("%q: got %v, %v, want an InvalidError for points", text, number, err)
		}
	}
}

func TestNumbersOutOfRangeAreRefusedAndNeverRounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text     string
		decimals int
		limit    Points
	}{
		{"1.5", 0, MaxUnits},
		{"12.345", 2, MaxUnits},
		{"0.0000000001", 9, MaxUnits},
		{"1e-400", 9, MaxUnits},
		{"1e-10", 9, MaxUnits},
		{"9007199254740992", 0, MaxUnits},
		{"9007199254740993", 0, MaxUnits},
		{"-9007199254740992", 0, MaxUnits},
		{"9007199254740.992", 3, MaxUnits},
		{"1e308", 0, MaxUnits},
		{"1e309", 0, MaxUnits},
		{"-1e309", 0, MaxUnits},
		{"1e18", 9, MaxUnits},
		{"999999999999999999", 9, MaxUnits},
		{"9223372036854775808", 0, MaxUnits},
		{"18446744073709551617", 0, MaxUnits},
		{"1e99999999999999999999", 0, MaxUnits},
		{"1e-99999999999999999999", 9, MaxUnits},
		{"1001", 0, 1000},
		{"-1001", 0, 1000},
		{"10.01", 2, 1000},
		{"-10.01", 2, 1000},
		{"1" + strings.Repeat("0", 1_000_000) + "e-1000001", 0, MaxUnits}, // a tenth, not one
		{"0." + strings.Repeat("0", 1_000_000) + "1e1000002", 0, 9},       // ten
	}
	for _, tt := range tests {
		number, err := ParseDecimal("points", tt.text)
		if err == nil {
			_, err = number.Points("points", tt.decimals, tt.limit)
		}
		if !isInvalid(err, "points") {
			t.Errorf("%.40s with %d decimals: got %v, want an InvalidError for points", tt.text, tt.decimals, err)
		}
	}
}

func TestTheRefusalOfANumberSaysWhatTheBoardTakes(t *testing.T) {
	t.Parallel()
	number, err := ParseDecimal("min", "10.01")
	if err != nil {
		t.Fatal(err)
	}
	_, err = number.Points("min", 2, 1000)
	if got, want := err.Error(), "min is out of range: this board takes -10.00 to 10.00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	number, _ = ParseDecimal("min", "0.001")
	_, err = number.Points("min", 2, 1000)
	if got, want := err.Error(), "min has too many decimals: this board keeps 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWholeIsThatManyPoints(t *testing.T) {
	t.Parallel()
	for _, whole := range []int64{0, 1, -1, 1000, -1000, 9_007_199} {
		if got, err := Whole(whole).Points("points", 9, MaxUnits); err != nil || int64(got) != whole*1_000_000_000 {
			t.Errorf("Whole(%d): got %d, %v", whole, got, err)
		}
	}
}

func TestEveryNumberABoardAcceptsComesBackDigitForDigit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.IntRange(0, MaxDecimals).Draw(t, "decimals")
		limit := rapid.Int64Range(1, MaxUnits).Draw(t, "limit")
		want := Points(rapid.Int64Range(-limit, limit).Draw(t, "units"))
		text := want.Text(decimals)
		number, err := ParseDecimal("points", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := number.Points("points", decimals, Points(limit))
		if err != nil || got != want || got.Text(decimals) != text {
			t.Errorf("%s with %d decimals: got %d (%s), %v, want %d", text, decimals, got, got.Text(decimals), err, want)
		}
	})
}

func TestEqualSpellingsAreOneNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(-MaxUnits, MaxUnits).Draw(t, "units")
		shift := rapid.IntRange(0, 9).Draw(t, "shift")
		plain := Points(units).Text(shift)
		spellings := []string{plain, Points(units).Text(0) + "e-" + Points(shift).Text(0), plain + "E+00"}
		if shift > 0 {
			spellings = append(spellings, plain+"000")
		}
		first, err := ParseDecimal("points", plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, spelling := range spellings {
			if got, err := ParseDecimal("points", spelling); err != nil || got != first {
				t.Errorf("%s: got %+v, %v, want %+v as for %s", spelling, got, err, first, plain)
			}
		}
	})
}

func TestDecimalPointsAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,12})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "text")
		checkAgainstExact(t, text, rapid.IntRange(0, MaxDecimals).Draw(t, "decimals"), Points(rapid.Int64Range(1, MaxUnits).Draw(t, "limit")))
	})
}

// checkAgainstExact compares what a board makes of a number with what arithmetic without bounds makes of it.
func checkAgainstExact(t interface {
	Helper()
	Errorf(format string, args ...any)
}, text string, decimals int, limit Points,
) {
	t.Helper()
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Errorf("%s: no number", text)
		return
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	exact.Mul(exact, new(big.Rat).SetInt(scale))
	fits := exact.IsInt() && exact.Num().CmpAbs(big.NewInt(int64(limit))) <= 0

	number, err := ParseDecimal("points", text)
	var got Points
	if err == nil {
		got, err = number.Points("points", decimals, limit)
	}
	switch {
	case fits && err != nil:
		t.Errorf("%s with %d decimals and limit %d: %v, want %s", text, decimals, limit, err, exact.Num())
	case !fits && !isInvalid(err, "points"):
		t.Errorf("%s with %d decimals and limit %d: got %d, %v, want an InvalidError", text, decimals, limit, got, err)
	case fits && !exact.Num().IsInt64() || fits && exact.Num().Int64() != int64(got):
		t.Errorf("%s with %d decimals: got %d, want %s", text, decimals, got, exact.Num())
	}
}

func FuzzDecimal(f *testing.F) {
	for _, seed := range []string{"1e3", "-0.50", "9007199254740993", "1e-400", "NaN", "0x10", "1_000", "٣", "1E+00005", "00", ""} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, decimals int) {
		decimals = int(uint(decimals) % (MaxDecimals + 1))
		number, err := ParseDecimal("points", text)
		if err != nil {
			if !isInvalid(err, "points") {
				t.Fatalf("%q: got %v, want an InvalidError", text, err)
			}
			return
		}
		points, err := number.Points("points", decimals, MaxUnits)
		if err != nil {
			return
		}
		if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); !ok || len(exponent) < 5 { // big.Rat writes exponents out
			checkAgainstExact(t, text, decimals, MaxUnits)
		}
		shown := points.Text(decimals)
		again, err := ParseDecimal("points", shown)
		if err != nil || again != number {
			t.Fatalf("%q is shown as %q, which reads as %+v, %v, want %+v", text, shown, again, err, number)
		}
		if strings.ContainsAny(shown, "eE") || strings.HasPrefix(shown, "-0") && points == 0 {
			t.Fatalf("%q is shown as %q", text, shown)
		}
	})
}

// isInvalid reports whether err is an [InvalidError] for the field.
func isInvalid(err error, field string) bool {
	invalid, ok := errors.AsType[*InvalidError](err)
	return ok && invalid.Field == field && invalid.Reason != ""
}
