package rules

import (
	"strings"
	"testing"
	"time"
)

func TestShippedCliffs(t *testing.T) {
	list, problems := parseCliffs("cliffs.yaml", cliffFile)
	if len(problems) > 0 || len(list) == 0 {
		t.Fatal(problems)
	}
	pack := loadBuiltIn(t)
	for _, c := range list {
		if pack.Signature(c.signature) == nil {
			t.Errorf("%s: there is no signature %s", c.id, c.signature)
		}
		if len(c.steps) == 0 {
			t.Errorf("%s: no steps", c.id)
		}
	}
}

func TestCliffMistakes(t *testing.T) {
	_, problems := parseCliffs("c.yaml", []byte("- id: a\n  value: )\n  steps:\n    - edge: x\n  other: 1\n"))
	text := ""
	for _, p := range problems {
		text += p.String() + "\n"
	}
	for _, want := range []string{"c.yaml:1:3: key \"title\" is missing", "c.yaml:2:11:", "c.yaml:4:7: key \"says\" is missing", "c.yaml:5:3: unknown key"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

const (
	dirtyBase = `stallmark_page_size_bytes 4096x700|stallmark_dirty_threshold_pages 300000x700|stallmark_dirty_background_threshold_pages 100000x700|`
	storeBase = `stallmark_disk_info{mount="/store",backing="sda"} 1x700|node_filesystem_size_bytes{mountpoint="/store"} 1000x700|`
	rocket    = `stallmark_process_info{role="rocketmq-broker",store_device="sda"} 1x700|`
	kafka     = `stallmark_process_info{role="kafka-broker",store_device="sda"} 1x700|`
)

func TestCliffs(t *testing.T) {
	for name, c := range map[string]struct {
		series   string
		id       string
		at       int
		outlook  Outlook
		text     string
		earliest float64
	}{
		"steady rise":           {dirtyBase + `stallmark_dirty_level_pages 100000+1000x40`, "dirty-pages", 40, CliffApproaching, "about 60 s away at the present slope", 60},
		"it has just begun":     {dirtyBase + `stallmark_dirty_level_pages 100000x31 100000+1000x10`, "dirty-pages", 40, CliffApproaching, "2 min to 8 min away at the present slope", 0},
		"it has just stopped":   {dirtyBase + `stallmark_dirty_level_pages 100000+1000x28 128000x13`, "dirty-pages", 40, CliffApproaching, "2 min away at the earliest, if it goes on", 0},
		"it stands":             {dirtyBase + `stallmark_dirty_level_pages 100000x40`, "dirty-pages", 40, CliffAway, "not approaching", 0},
		"it falls":              {dirtyBase + `stallmark_dirty_level_pages 190000-1000x40`, "dirty-pages", 40, CliffAway, "not approaching", 0},
		"slowly":                {dirtyBase + `stallmark_dirty_level_pages 100000+10x40`, "dirty-pages", 40, CliffFar, "more than an hour away", 0},
		"there":                 {dirtyBase + `stallmark_dirty_level_pages 210000x40`, "dirty-pages", 40, CliffReached, "reached: whoever writes is paused", 0},
		"too short":             {dirtyBase + `stallmark_dirty_level_pages 100000+1000x8`, "dirty-pages", 8, CliffUnknown, "not watched for long enough", 0},
		"no limit is known":     {`stallmark_page_size_bytes 4096x40|stallmark_dirty_level_pages 100000+1000x40`, "dirty-pages", 40, "", "", 0},
		"free memory falls":     {`stallmark_page_size_bytes 1x40|node_zoneinfo_min_pages{zone="a"} 100x40|node_zoneinfo_nr_free_pages{zone="a"} 1000-10x40`, "free-pages", 40, CliffApproaching, "about 50 s away", 50},
		"free memory is held":   {`stallmark_page_size_bytes 1x40|node_zoneinfo_min_pages 100x40|node_zoneinfo_nr_free_pages 1000x40|node_vmstat_pgalloc_normal 0+300x40`, "free-pages", 40, CliffAway, "not approaching; enough for 3 s of allocations, if nothing were freed", 0},
		"with several zones":    {`stallmark_page_size_bytes 1x40|node_zoneinfo_min_pages{zone="a"} 50x40|node_zoneinfo_min_pages{zone="b"} 50x40|node_zoneinfo_nr_free_pages{zone="a"} 500x40|node_zoneinfo_nr_free_pages{zone="b"} 500x40|node_vmstat_pgalloc_dma 0x40|node_vmstat_pgalloc_dma32 0+100x40|node_vmstat_pgalloc_normal 0+150x40|node_vmstat_pgalloc_movable 0+50x40`, "free-pages", 40, CliffAway, "not approaching; enough for 3 s of allocations, if nothing were freed", 0},
		"no allocation counted": {`stallmark_page_size_bytes 1x40|node_zoneinfo_min_pages 100x40|node_zoneinfo_nr_free_pages 1000x40`, "free-pages", 40, CliffAway, "not approaching", 0},
		"RocketMQ's first step": {storeBase + rocket + `node_filesystem_avail_bytes{mountpoint="/store"} 800-0.5x600`, "store-space-rocketmq", 600, CliffApproaching, "about 8 min away", 500},
		"RocketMQ's second":     {storeBase + rocket + `node_filesystem_avail_bytes{mountpoint="/store"} 200x600`, "store-space-rocketmq", 600, CliffAway, "not approaching", 0},
		"RocketMQ refuses":      {storeBase + rocket + `node_filesystem_avail_bytes{mountpoint="/store"} 50x600`, "store-space-rocketmq", 600, CliffReached, "reached: RocketMQ refuses every write", 0},
		"Kafka has none":        {storeBase + kafka + `node_filesystem_avail_bytes{mountpoint="/store"} 50x600`, "store-space", 600, CliffAway, "not approaching", 0},
		"not the broker's":      {storeBase + `node_filesystem_avail_bytes{mountpoint="/store"} 50x600`, "store-space", 600, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := NewQuery(data(t, strings.Split(c.series, "|")...), time.Second)
			list, err := Cliffs(t.Context(), q, second(c.at), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if c.outlook == "" {
				if len(list) > 0 {
					t.Errorf("%+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].ID != c.id || list[0].Outlook != c.outlook || !strings.HasPrefix(list[0].Text, c.text) {
				t.Fatalf("%+v", list)
			}
			if e := list[0].Earliest; c.earliest > 0 && (e == nil || !near(*e, c.earliest)) {
				t.Errorf("earliest %v, want %v", *e, c.earliest)
			}
		})
	}
}

func TestCliffStepsSayWhatIsReached(t *testing.T) {
	q := NewQuery(data(t, strings.Split(storeBase+rocket+`node_filesystem_avail_bytes{mountpoint="/store"} 200x600`, "|")...), time.Second)
	list, err := Cliffs(t.Context(), q, second(600), time.Second)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if c := list[0]; c.Reached != "RocketMQ deletes expired files at any hour" || c.Edge != 850 || !near(c.Percent, 94.1) || !strings.Contains(c.Says, "oldest") {
		t.Errorf("%+v", c)
	}
}

func TestCliffsAreSorted(t *testing.T) {
	series := strings.Split(dirtyBase+`stallmark_dirty_level_pages 100000+1000x40|node_zoneinfo_min_pages 100x40|node_zoneinfo_nr_free_pages 1000x40|`+
		`stallmark_process_open_fds{pid="1"} 10x40|stallmark_process_max_fds{pid="1"} 10x40|`+
		`stallmark_process_open_fds{pid="2"} 9x40|stallmark_process_max_fds{pid="2"} 10x40`, "|")
	list, err := Cliffs(t.Context(), NewQuery(data(t, series...), time.Second), second(40), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range list {
		got += c.ID + c.Subject["pid"] + " "
	}
	if got != "file-descriptors1 dirty-pages file-descriptors2 free-pages " {
		t.Error(got)
	}
}
