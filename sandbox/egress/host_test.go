package egress

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseHost(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, tt := range []struct {
		text, want string
		err        error
	}{
		{"example.com", "example.com", nil},
		{"EXAMPLE.Com", "example.com", nil},
		{"example.com.", "example.com", nil},
		{"localhost", "localhost", nil},
		{"a-b.example.com", "a-b.example.com", nil},
		{"1password.com", "1password.com", nil},
		{"4.example.com", "4.example.com", nil},
		{"example.com..", "", errLabel},
		{".example.com", "", errLabel},
		{"example..com", "", errLabel},
		{".", "", errLabel},
		{"", "", errNoHost},
		{long + ".com", long + ".com", nil},
		{long + "a.com", "", errLabel},
		{strings.Repeat(long+".", 4) + "com", "", errLong},
		{strings.Repeat("a", 100000), "", errLong},

		// One name in several writings.
		{"BÜCHER.example", "xn--bcher-kva.example", nil},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", nil},
		{"XN--BCHER-KVA.example.", "xn--bcher-kva.example", nil},
		{"bu\u0308cher.example", "xn--bcher-kva.example", nil},
		{"ｅｘａｍｐｌｅ.com", "example.com", nil},
		{"example。com", "example.com", nil},
		{"example．com｡", "example.com", nil},
		{"exam\u00adple.com", "example.com", nil},

		// Names that only look like another.
		{"еxample.com", "xn--xample-2of.com", nil},
		{"examp1e.com", "examp1e.com", nil},
		{"faß.example", "xn--fa-hia.example", nil},
		{"xn--example-.com", "", errName},
		{"xn--a.com", "", errName},
		{"xn--", "", errLabel},

		// No names at all.
		{"exa mple.com", "", errName},
		{"example.com\x00.evil.org", "", errName},
		{"example.com\r\nX: y", "", errAddress},
		{"example.com\n", "", errName},
		{"example.com%00", "", errName},
		{"example.com/", "", errName},
		{"example.com@evil.org", "", errName},
		{"example.com#", "", errName},
		{`example.com\`, "", errName},
		{"*.example.com", "", errName},
		{"_dns.example.com", "", errName},
		{"-a.example.com", "", errName},
		{"a-.example.com", "", errName},
		{"\xff.example.com", "", errName},
		{"a\u202eb.example.com", "", errName},
		{"example.com:443", "", errAddress},

		{"127.0.0.1", "127.0.0.1", nil},
		{"127.0.0.1.", "127.0.0.1", nil},
		{"１２７.0.0.1", "127.0.0.1", nil},
		{"127。0。0。1", "127.0.0.1", nil},
		{"::1", "::1", nil},
		{"[::1]", "::1", nil},
		{"[2001:DB8::A]", "2001:db8::a", nil},
		{"[::ffff:127.0.0.1]", "127.0.0.1", nil},
		{"[::ffff:7f00:1]", "127.0.0.1", nil},
		{"[0:0:0:0:0:0:0:1]", "::1", nil},
		{"[::ffff:0x7f.0.0.1]", "", errAddress},
		{"[127.0.0.1]", "", errAddress},
		{"[example.com]", "", errAddress},
		{"[::1", "", errAddress},
		{"::1]", "", errAddress},
		{"[[::1]]", "", errAddress},
		{"[fe80::1%eth0]", "", errZone},
		{"fe80::1%25lo", "", errZone},
		{"[::ffff:127.0.0.1%1]", "", errZone},

		// What some resolver or other takes for 127.0.0.1 and its like.
		{"127.1", "", errWriting},
		{"127.0.1", "", errWriting},
		{"2130706433", "", errWriting},
		{"0x7f.1", "", errWriting},
		{"0x7f.0.0.0x1", "", errWriting},
		{"0x7f000001", "", errWriting},
		{"0X7F000001", "", errWriting},
		{"0177.0.0.1", "", errWriting},
		{"127.0.0.01", "", errWriting},
		{"127.0.0.0x1", "", errWriting},
		{"127.0.0.0x", "", errWriting},
		{"127.0.0.256", "", errWriting},
		{"127.0.0.1.1", "", errWriting},
		{"017700000001", "", errWriting},
		{"0", "", errWriting},
		{"0x", "", errWriting},
		{"example.com.1", "", errWriting},
		{"①②⑦.①", "", errWriting},
		{"4294967297", "", errWriting},
	} {
		t.Run(tt.text[:min(len(tt.text), 40)], func(t *testing.T) {
			h, err := ParseHost(tt.text)
			if err != tt.err {
				t.Fatalf("got %v, %v, want the error %v", h, err, tt.err)
			}
			if got := h.String(); err == nil && got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if err == nil && h.Addr.IsValid() == (h.Name != "") {
				t.Errorf("both or neither of name and address: %+v", h)
			}
		})
	}
}

func TestParseTarget(t *testing.T) {
	for _, tt := range []struct {
		authority string
		form      form
		want      string
		err       error
	}{
		{"Example.com.:443", tunnel, "example.com:443", nil},
		{"[::1]:443", tunnel, "[::1]:443", nil},
		{"example.com", plain, "example.com:80", nil},
		{"[::1]", plain, "[::1]:80", nil},
		{"example.com:8080", plain, "example.com:8080", nil},
		{"example.com:0443", plain, "example.com:443", nil},
		{"example.com", tunnel, "", errPort},
		{"[::1]", tunnel, "", errPort},
		{"example.com:", tunnel, "", errPort},
		{"example.com:", plain, "", errPort},
		{"example.com:0", tunnel, "", errPort},
		{"example.com:65536", tunnel, "", errPort},
		{"example.com:+443", tunnel, "", errPort},
		{"example.com:-1", tunnel, "", errPort},
		{"example.com:443x", tunnel, "", errPort},
		{"example.com:４４３", tunnel, "", errPort},
		{"example.com:80:443", tunnel, "", errAddress},
		{"::1:443", tunnel, "", errAddress},
		{"[::1]x:443", tunnel, "", errAddress},
		{":443", tunnel, "", errNoHost},
	} {
		t.Run(tt.authority, func(t *testing.T) {
			got, err := parseTarget(tt.authority, tt.form)
			if err != tt.err || err == nil && got.authority() != tt.want {
				t.Errorf("got %v, %v, want %s, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// hostText makes texts that are or nearly are names of example.com.
func hostText() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"example", "EXAMPLE", "com", "org", ".", "..", "。", "evil", "bad", "xn--", "-", "ß", "е", "ｅ", "\u00ad", "\u200d", "\u0308", "١", "127", "0x7f", "[", "]", ":", "%", "@", "\x00", " ", "*."}),
		rapid.StringN(0, 3, -1))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "")
	})
}

func TestNormalizingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkHost(t, hostText().Draw(t, "host"))
	})
}

// checkHost checks what holds for every text that is read as a host.
func checkHost(t interface{ Fatalf(string, ...any) }, text string) {
	h, err := ParseHost(text)
	if err != nil {
		return
	}
	again, err := ParseHost(h.String())
	if err != nil || again != h {
		t.Fatalf("%q is %v, and that is %v, %v", text, h, again, err)
	}
	if h.Name == "" {
		return
	}
	if strings.Trim(h.Name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		t.Fatalf("%q became %q", text, h.Name)
	}
	// For plain text there is nothing to a name but case and the one dot.
	if strings.IndexFunc(text, func(r rune) bool { return r > 0x7e }) < 0 {
		if want := strings.TrimSuffix(strings.ToLower(text), "."); h.Name != want {
			t.Fatalf("%q became %q, want %q", text, h.Name, want)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.com", "[::ffff:127.0.0.1]", "0x7f.1", "BÜCHER.example.", "xn--bcher-kva", "a..b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHost(t, text) })
}
