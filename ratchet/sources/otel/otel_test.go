package otel

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"umwelt/ratchet/sources/internal/sourcetest"
)

func TestGolden(t *testing.T) { sourcetest.Golden(t, Source, "*.json*") }

// TestNoSecretIsKept looks for the secrets that stand in the spans of the test.
func TestNoSecretIsKept(t *testing.T) {
	for _, name := range []string{"testdata/collector.jsonl.golden", "testdata/spans.json.golden"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter2", "abcdef0123456789", "token=abc"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds %s", name, secret)
			}
		}
	}
}

func TestBounded(t *testing.T) {
	// One request in one line, as large as the file.
	sourcetest.Bounded(t, Source, `{"resourceSpans":[{"scopeSpans":[{"spans":[`, func(i int) string {
		comma := ","
		if i == 0 {
			comma = ""
		}
		return comma + fmt.Sprintf(`{"spanId":"%d","traceId":"1","name":"t","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"run"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"command\":\"make %d\"}"}}]}`, i, i)
	})
}

func FuzzOtel(f *testing.F) {
	sourcetest.Fuzz(f, Source, "*.json*",
		`{"name":"x","spanId":"1","kind":3,"attributes":{"url.full":"https://[::1]:1/","server.port":99999}}`,
		`{"attributes":[{"key":"gen_ai.tool.call.arguments","value":{"kvlistValue":{"values":[{"key":"a","value":{"kvlistValue":{}}}]}}}]}`)
}
