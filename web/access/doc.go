// Package access decides who may read the page and who may change something.
//
// Reading needs nothing on a loopback address. Anywhere else it needs the
// Prometheus web configuration file (TLS and basic authentication, as described
// in github.com/prometheus/exporter-toolkit/docs/web-configuration.md), read by
// [Load]. Changing anything needs the admin token ([Admin]), wherever one is.
// A link to a snapshot needs neither, only its own token.
package access
