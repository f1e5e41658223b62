package process

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const statLine = "42 (ja) va\n(x)) D 1 42 42 0 -1 1077936128 61536 1 10 2 14 317 3 4 20 0 519 0 3063 99 5 18446744073709551615 1 1 0\n"

func TestParseStat(t *testing.T) {
	st, ok := parseStat([]byte(statLine))
	if !ok {
		t.Fatal("not read")
	}
	if string(st.comm) != "ja) va\n(x)" || st.state != 'D' || st.minflt != 61536 || st.majflt != 10 || st.utime != 14 || st.stime != 317 ||
		st.threads != 519 || st.start != 3063 || st.kernelThread() {
		t.Errorf("%+v", st)
	}
	kthread, _ := parseStat([]byte("45 (kswapd0) S 2 0 0 0 -1 2230336 0 0 0 0 0 456 0 0 20 0 1 0 40 0 0\n"))
	if !kthread.kernelThread() {
		t.Error("kswapd0 is a kernel thread")
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) ", "42 (x) DD 1", "42 (x) S 1 2 3", strings.Replace(statLine, "3063", "-1", 1), ")("} {
		if _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseUint(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "18446744073709551615": 1<<64 - 1, "00000000000000000007": 7} {
		if got, ok := parseUint([]byte(in)); !ok || got != want {
			t.Errorf("%q: %d %v", in, got, ok)
		}
	}
	for _, bad := range []string{"", "-1", "max", "1.5", "18446744073709551616", "99999999999999999999", "1 2"} {
		if got, ok := parseUint([]byte(bad)); ok {
			t.Errorf("%q: %d", bad, got)
		}
	}
}

func TestParsePressure(t *testing.T) {
	some, full, ok := parsePressure([]byte("some avg10=0.00 avg60=0.10 avg300=0.00 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=678\n"))
	if !ok || some != 12345 || full != 678 {
		t.Errorf("%d %d %v", some, full, ok)
	}
	if some, full, ok = parsePressure([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")); !ok || some != 5 || full != 0 {
		t.Errorf("without full: %d %d %v", some, full, ok)
	}
	if _, _, ok = parsePressure([]byte("some total=x\n")); ok {
		t.Error("no number was read")
	}
}

func TestParseProperties(t *testing.T) {
	text := "# comment\n! comment\n\n a = 1 \nb:2\nc 3\nd=\ne = x\\\n   y\nf = C:\\\\dir\\\\\ng\n  h.i=j=k\r\nlast=\\"
	got := map[string]string{}
	parseProperties(text, func(k, v string) { got[k] = v })
	want := map[string]string{"a": "1", "b": "2", "c": "3", "d": "", "e": "xy", "f": `C:\\dir\\`, "g": "", "h.i": "j=k", "last": ""}
	if !maps.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestParseJSONConfig(t *testing.T) {
	got := map[string]string{}
	parseJSONConfig(`{"proxyMode":"local","n":3,"on":true,"deep":{"x":1}}`, func(k, v string) { got[k] = v })
	if got["proxyMode"] != "local" || got["n"] != "3" || got["on"] != "true" {
		t.Errorf("%q", got)
	}
	parseJSONConfig("{", func(k, _ string) { t.Errorf("%q out of a broken file", k) })
}

func TestParseMaps(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want mapsInfo
	}{
		"rocketmq with jemalloc": {
			"00400000-00401000 r-xp 00000000 fd:01 131 /usr/lib/jvm/bin/java\n" +
				"7f0000000000-7f0040000000 rw-s 00000000 fd:02 99                  /data/store/commitlog/00000000001073741824\n" +
				"7f1000000000-7f1000001000 r-xp 00000000 fd:01 5 /usr/lib64/libc-2.17.so\n" +
				"7f2000000000-7f2000001000 r-xp 00000000 fd:01 6 /usr/lib64/libjemalloc.so.2\n" +
				"7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 [stack]\n",
			mapsInfo{5, "jemalloc", "/data/store/commitlog", "253:2"},
		},
		"kafka": {
			"7f0000000000-7f0000001000 rw-s 00000000 08:11 9 /kafka/a b-0/00000000000000000000.timeindex\n" +
				"7f1000000000-7f1000001000 r-xp 00000000 08:01 5 /lib/x86_64-linux-gnu/libc.so.6\n",
			mapsInfo{2, "glibc", "/kafka", "8:17"},
		},
		"deleted segment": {
			"7f0000000000-7f0000001000 rw-s 00000000 08:11 9 /kafka/t-0/00000000000000000000.index (deleted)\n",
			mapsInfo{1, "", "/kafka", "8:17"},
		},
		"no segment": {
			"7f0000000000-7f0000001000 rw-s 00000000 08:11 9 /x/commitlog/0000000000000000000x\n" +
				"7f0000000000-7f0000001000 r--p 00000000 08:11 9 /opt/libjemalloc-notes.txt\n\n",
			mapsInfo{count: 2},
		},
	} {
		if got := parseMaps([]byte(c.text)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

const mountInfo = `22 1 254:0 / / rw,relatime - ext4 /dev/root rw
30 22 254:16 / /data rw - xfs /dev/vdb rw
31 30 254:32 /sub /data/with\040blank rw shared:1 - ext4 /dev/vdc rw
32 22 0:40 / /btr rw - btrfs /dev/vdd rw
33 30 254:48 / /data rw - xfs /dev/vde rw
garbage
`

func TestMountOf(t *testing.T) {
	for dir, want := range map[string]string{
		"/var/lib": "254:0", "/data": "254:48", "/database": "254:0", "/data/with blank/x": "254:32", "/btr/../data/x": "254:48", "/btr/x": "0:40",
	} {
		if m, ok := mountOf(mountInfo, dir); !ok || m.number != want {
			t.Errorf("%s: %+v %v, want %s", dir, m, ok, want)
		}
	}
	if _, ok := mountOf("", "/"); ok {
		t.Error("a mount out of nothing")
	}
}

func TestParseCgroup(t *testing.T) {
	v1 := parseCgroup("4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/x:y\n0::/user.slice\n")
	if v1.v1["memory"] != "/docker/abc" || v1.v1["cpuacct"] != "/docker/abc" || v1.unified != "/user.slice" || v1.v1["name=systemd"] != "/x:y" {
		t.Errorf("%+v", v1)
	}
	v2 := parseCgroup("0::/kubepods.slice/a.scope\n")
	if len(v2.v1) != 0 || v2.unified != "/kubepods.slice/a.scope" {
		t.Errorf("%+v", v2)
	}
	if out := parseCgroup("0::/../other\n"); !out.outside() {
		t.Error("a path out of the namespace is not told")
	}
}

func TestParseOpenFilesLimit(t *testing.T) {
	if v, ok := parseOpenFilesLimit([]byte("Limit  Soft Limit\nMax open files            655350               655350               files     \n")); !ok || v != 655350 {
		t.Errorf("%v %v", v, ok)
	}
	if _, ok := parseOpenFilesLimit([]byte("Max open files            unlimited            unlimited            files\n")); ok {
		t.Error("unlimited is no number")
	}
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"java": "java", "a\nb\x1b[31m": "a?b?[31m", "\xff\xfe": "?", "<script>": "<script>", strings.Repeat("é", 100): strings.Repeat("é", maxName),
		"\u202egnp.exe": "?gnp.exe",
	} {
		if got := cleanName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte(statLine))
	f.Add([]byte(mountInfo))
	f.Add([]byte("4:memory:/docker/abc\n0::/x\n"))
	f.Add([]byte("7f0000000000-7f0000001000 rw-s 00000000 08:11 9 /kafka/t-0/00000000000000000000.index (deleted)\n"))
	f.Add([]byte("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t4 5 \nCapEff:\t000001ffffffffff\n"))
	f.Add([]byte("a=1\\\n b=2\n"))
	f.Add([]byte("some avg10=0.00 total=12\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := string(b)
		parseStat(b)
		parseSchedstat(b)
		parsePressure(b)
		parseOpenFilesLimit(b)
		parseCgroup(string(b))
		if m := parseMaps(b); m.count > 1+strings.Count(before, "\n") {
			t.Errorf("%d mappings", m.count)
		}
		mountOf(string(b), "/data/x")
		deviceNamed(b, "8:1")
		parseCredentials(b)
		parseProperties(before, func(string, string) {})
		parseJSONConfig(before, func(string, string) {})
		if string(b) != before {
			t.Error("the text was changed")
		}
	})
}

// sortedKeys lists the series of a beat whose name begins with a prefix.
func sortedKeys(values map[string]float64, prefix string) []string {
	var keys []string
	for k := range values {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
