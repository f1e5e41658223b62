package match

import "bytes"

// maxThread is the longest name of a thread, in bytes.
const maxThread = 120

// threadBefore finds the thread in what stands before a message: "WARN thread - ",
// "[thread] - ", "[thread] logger - ", and a JSON layout's key. It gives nothing
// where the layout has none.
func threadBefore(line []byte, at int) []byte {
	head, ok := bytes.CutSuffix(line[:at], []byte("- "))
	if !ok {
		return jsonThread(line)
	}
	head = bytes.TrimRight(head[max(0, len(head)-2*maxThread):], " ")
	if bytes.HasSuffix(head, []byte("]")) {
		return inBrackets(head)
	}
	token := head[bytes.LastIndexByte(head, ' ')+1:]
	switch {
	case len(token) == 0 || len(token) > maxThread || !isLetter(token[0]):
		return nil
	case isLevelWord(token):
		return nil
	}
	if before := bytes.TrimRight(head[:len(head)-len(token)], " "); bytes.HasSuffix(before, []byte("]")) {
		return inBrackets(before) // what stood last is the logger
	}
	return token
}

// inBrackets is the text in the brackets at the end of the head.
func inBrackets(head []byte) []byte {
	open := bytes.LastIndexByte(head, '[')
	if open < 0 || len(head)-open > maxThread {
		return nil
	}
	name := head[open+1 : len(head)-1]
	if len(name) == 0 || !isLetter(name[0]) || isLevelWord(bytes.TrimRight(name, " ")) {
		return nil
	}
	return name
}

func isLevelWord(token []byte) bool {
	_, is := levelWord(token, true)
	return is
}

// jsonThread reads the thread of a JSON layout.
func jsonThread(line []byte) []byte {
	if bytes.IndexByte(line[:min(len(line), maxHeader)], '{') < 0 {
		return nil
	}
	for _, key := range []string{`"thread":"`, `"thread_name":"`, `"threadName":"`} {
		at := bytes.Index(line, []byte(key))
		if at < 0 {
			continue
		}
		rest := line[at+len(key):]
		if end := bytes.IndexByte(rest, '"'); end > 0 && end <= maxThread {
			return rest[:end]
		}
	}
	return nil
}
