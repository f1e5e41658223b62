package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestNarrow(t *testing.T) {
	text := strings.Repeat("2026-03-01 12:00:00 WARN zażółć 慢 😀\r\n", 500)
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		var data []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			data = order.AppendUint16(data, unit)
		}
		got, err := io.ReadAll(narrow(bufio.NewReader(bytes.NewReader(data))))
		if err != nil || string(got) != text {
			t.Errorf("%s: %v, %.60q", name, err, got)
		}
		got, err = io.ReadAll(narrow(bufio.NewReader(bytes.NewReader(append(data, 0xd8)))))
		if err != nil || string(got) != text {
			t.Errorf("%s, cut: %v, %d bytes", name, err, len(got))
		}
	}
	for _, plain := range []string{"", "a", "plain\n", "\xff"} {
		if got, err := io.ReadAll(narrow(bufio.NewReader(strings.NewReader(plain)))); err != nil || string(got) != plain {
			t.Errorf("%q: %q, %v", plain, got, err)
		}
	}
	lone := []byte{0xff, 0xfe, 0x00, 0xd8, 'a', 0}
	if got, err := io.ReadAll(narrow(bufio.NewReader(bytes.NewReader(lone)))); err != nil || string(got) != "\ufffda" {
		t.Errorf("a lone surrogate: %q, %v", got, err)
	}
}
