package pasted

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode gives the text as UTF-8: Windows tools save pastes as UTF-16, old
// terminals in a code page.
func decode(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return fromUTF16(data[2:], true)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return fromUTF16(data[2:], false)
	case utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return string(data)
	}
	return fromCodePage(string(data))
}

func fromUTF16(data []byte, little bool) string {
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		u := uint16(data[0])<<8 | uint16(data[1])
		if little {
			u = uint16(data[1])<<8 | uint16(data[0])
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// gbkWords are the words of the tools' headings as GBK has them: what a Chinese
// terminal of old leaves in a file.
var gbkWords = []string{
	"\xd7\xdc\xbc\xc6", "总计", "\xd2\xd1\xd3\xc3", "已用", "\xbf\xd5\xcf\xd0", "空闲", "\xb9\xb2\xcf\xed", "共享",
	"\xbb\xba\xb3\xe5/\xbb\xba\xb4\xe6", "缓冲/缓存", "\xbf\xc9\xd3\xc3", "可用", "\xc4\xda\xb4\xe6\xa3\xba", "内存：",
	"\xbd\xbb\xbb\xbb\xa3\xba", "交换：", "\xc6\xbd\xbe\xf9\xca\xb1\xbc\xe4", "平均时间", "\xc4\xea", "年", "\xd4\xc2", "月", "\xc8\xd5", "日", "\xca\xb1", "时", "\xb7\xd6", "分", "\xc3\xeb", "秒",
}

// fromCodePage reads what is no UTF-8: as GBK if words of it are there, whose
// other bytes stay unreadable, otherwise as Latin 1, byte by byte.
func fromCodePage(text string) string {
	if chinese := strings.NewReplacer(gbkWords...).Replace(text); chinese != text {
		return chinese
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			r = rune(text[i])
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// leastQuoted is how many lines in a row have a quote mark at the least before
// it is one: a line of a shell may begin with it.
const leastQuoted = 3

var quotes = regexp.MustCompile(`^(?:> ?)+`)

// unquote cuts the marks of mails and forums off, a run of lines at a time.
func unquote(list []line) {
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && strings.HasPrefix(list[n].text, ">") {
			n++
		}
		if n-i >= leastQuoted {
			for k := i; k < n; k++ {
				list[k].text = quotes.ReplaceAllString(list[k].text, "")
			}
		}
		i = max(n, i+1)
	}
}

var numbered = regexp.MustCompile(`^ *([0-9]{1,7})(?:[:|]|\t| [│|] ?|  ?)`)

// unnumber cuts line numbers off, as editors, "cat -n" and "grep -n" write them:
// they count up by one from line to line, as nothing else does.
func unnumber(list []line) {
	const least = 4
	cuts := make([]int, len(list))
	counted, offset := 0, 0
	for i, l := range list {
		m := numbered.FindStringSubmatchIndex(l.text)
		if m == nil {
			if l.blank() {
				continue
			}
			return
		}
		n, _ := strconv.Atoi(l.text[m[2]:m[3]]) // seven digits
		if counted > 0 && n-i != offset {
			return
		}
		offset = n - i
		cuts[i] = m[1]
		counted++
	}
	if counted < least {
		return
	}
	for i, n := range cuts {
		list[i].text = list[i].text[n:]
	}
}

var tags = regexp.MustCompile(`(?i)</?(?:pre|code|p|div|span|br|blockquote)(?: [^<>]*)?/?>`)

// unescape undoes what a page of a forum or a chat does to a text.
func unescape(s string) string {
	if strings.Contains(s, "&") && strings.Contains(s, ";") {
		s = html.UnescapeString(s)
	}
	if strings.Contains(s, "<") {
		s = tags.ReplaceAllString(s, "")
	}
	return s
}

// sayBinary says where a text stops being one: at its first NUL byte, which no text
// has that is not UTF-16. What can be read behind it is read all the same.
func (t *Text) sayBinary(data []byte) {
	i := bytes.IndexByte(data, 0)
	if i < 0 || bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return
	}
	line := 1 + bytes.Count(data[:i], []byte{'\n'})
	t.Notes = append(t.Notes, fmt.Sprintf("%s: from line %d, byte %d on it is not text (a NUL byte)", t.Name, line, i+1))
}
