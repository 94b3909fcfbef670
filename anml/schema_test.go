package anml

import (
	"testing"

	"github.com/lookleap/lookleap/internal/anmltable"
)

// TestVocabulary: each name of the draft has its number, and no other name has one.
func TestVocabulary(t *testing.T) {
	known := make(map[string]bool)
	for id, name := range words().names {
		if name == "" {
			continue
		}
		known[name] = true
		if got := words().id(name); int(got) != id {
			t.Errorf("%s: %d, want %d", name, got, id)
		}
		if got := words().at(name+" and more", 0, int32(len(name))); int(got) != id {
			t.Errorf("%s in a text: %d, want %d", name, got, id)
		}
	}
	if len(known) < 100 {
		t.Fatalf("%d names", len(known))
	}
	others := []string{"", "bodies", "Body", "description2", "instructiona", "confidentialitx"}
	for i := range 26 * 26 * 26 {
		others = append(others, string([]byte{byte('a' + i/676), byte('a' + i/26%26), byte('a' + i%26), 'y'}))
	}
	for _, name := range others {
		if id := words().id(name); id != 0 && !known[name] {
			t.Errorf("%s is taken for %s", name, words().names[id])
		}
		if id := words().at(name+"=\"value\"", 0, int32(len(name))); id != 0 && !known[name] {
			t.Errorf("%s in a text is taken for %s", name, words().names[id])
		}
	}
}

// TestElementTable: programs that generate documents learn which elements hold text.
func TestElementTable(t *testing.T) {
	text := make(map[string]bool)
	for _, e := range anmltable.Elements() {
		text[e.Name] = e.Text
	}
	for name, want := range map[string]bool{"body": true, "footer": true, "title": true, "inform": true, "link": false, "data": false, "anml": false} {
		if got, ok := text[name]; got != want || !ok {
			t.Errorf("%s: %t", name, got)
		}
	}
}
