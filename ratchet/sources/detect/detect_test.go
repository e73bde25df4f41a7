package detect

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
)

func TestGolden(t *testing.T) { sourcetest.Golden(t, Source, "*.jsonl") }

func TestNoSecretIsKept(t *testing.T) {
	text, err := os.ReadFile("testdata/events.jsonl.golden")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Error("a secret is kept")
	}
}

// TestReport holds that the report, which only counts, is refused.
func TestReport(t *testing.T) {
	name := sourcetest.Write(t, "{\n  \"repeated_bash\": [{\"command\": \"git\", \"calls\": 3, \"example\": \"git push\"}],\n  \"failure_stream\": [], \"tool_gaps\": [], \"channel_mix\": []\n}\n")
	_, err := Source.Read(ratchet.Input{Name: name}, func(ratchet.Observation) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "claude://") {
		t.Errorf("%v", err)
	}
}

func TestBounded(t *testing.T) {
	sourcetest.Bounded(t, Source, "", func(i int) string {
		return fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"make t%d"},"success":1,"data":%q}`+"\n", i, strings.Repeat("x", 600))
	})
}

func FuzzDetect(f *testing.F) {
	sourcetest.Fuzz(f, Source, "*.jsonl", `{"events":[{"tool":"Read","file_path":"../x","success":true}]}`, `{"tool_name":"x","input":"[1]","is_error":false}`)
}
