module stallmark

go 1.26.8

require (
	github.com/a-h/templ v0.3.1118 // indirect
	github.com/go-chi/chi/v5 v5.5.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/prometheus/procfs v0.23.0 // indirect
	github.com/prometheus/prometheus v0.316.0 // indirect
	github.com/shirou/gopsutil/v3 v3.24.5 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
