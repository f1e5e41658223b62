package browsertest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// program builds Stallmark, serves this host with it on a loopback port for as long
// as the test, and returns the page's address.
func program(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "stallmark")
	if out, err := exec.Command("go", "build", "-o", exe, "stallmark/cmd/stallmark").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(exe, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), ": http://"); ok {
			return "http://" + address
		}
	}
	t.Fatal("serve has not said where its page is")
	return ""
}

// giveFiles chooses files in the form's field.
func giveFiles(p *tab, paths ...string) {
	var input struct {
		Result struct {
			ObjectID string `json:"objectId"`
		} `json:"result"`
	}
	p.call(&input, p.session, "Runtime.evaluate", object{"expression": `document.getElementById("files")`})
	p.do("DOM.setFileInputFiles", object{"files": paths, "objectId": input.Result.ObjectID})
}

// dropFiles drags files over the form's field and lets them go.
func dropFiles(p *tab, paths ...string) {
	const box = `(document.getElementById("files").getBoundingClientRect())`
	x, _ := strconv.ParseFloat(p.eval(box+`.x + 300`), 64) // NaN drops nothing
	y, _ := strconv.ParseFloat(p.eval(box+`.y + 20`), 64)
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.do("Input.dispatchDragEvent", object{"type": kind, "x": x, "y": y, "data": object{"items": []object{}, "files": paths, "dragOperationsMask": 1}})
	}
	p.until(`document.getElementById("files").files.length > 0`)
}

// TestRealTriageInChromium pastes what somebody wrote, with a file beside it, into the
// page of the real program, and reads its verdict.
func TestRealTriageInChromium(t *testing.T) {
	c := browser(t)
	url := program(t)
	s := &shared{}
	posts := filepath.Join("..", "..", "cmd", "stallmark", "testdata", "posts")
	text, err := os.ReadFile(filepath.Join(posts, "gc-broker.txt"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(filepath.Join(posts, "sar-B.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := c.open(t, 1440, 900, "light")
	p.visit(url + "/triage")
	p.eval(`document.getElementById("text").focus()`)
	p.do("Input.insertText", object{"text": string(text)})
	s.press(p, "Find out")
	if got := heading(p); got != "Garbage collection stops the JVM" {
		t.Errorf("the paste: %q", got)
	}
	page := p.eval(`document.querySelector("main").innerText`)
	for _, want := range []string{"possible", "RocketMQ refuses messages since it is busy", "lines of other logs", "stallmark record"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	keep(t, p, "triage-real-paste")
	p.visit(url + "/triage")
	dropFiles(p, file)
	s.press(p, "Find out")
	if got := heading(p); got != "Allocating threads must free memory themselves" {
		t.Errorf("the file: %q", got)
	}
	keep(t, p, "triage-real-file")
	p.visit(url + "/triage")
	p.eval(`document.getElementById("text").value = "our broker is slow, please help"`)
	s.press(p, "Find out")
	if got := heading(p); got != "Nothing was understood" {
		t.Errorf("prose: %q", got)
	}
	p.clean("422")
}
