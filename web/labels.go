package web

// nameLabel holds a metric's name, by Prometheus' convention.
const nameLabel = "__name__"
