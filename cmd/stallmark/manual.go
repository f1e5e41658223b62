package main

import (
	"context"
	"fmt"
	"strings"
)

func manualCommand() command {
	return command{
		name:    "manual",
		summary: "Print the manual page, for man(1)",
		hidden:  true,
		run: func(_ context.Context, p *program, _ *options, _ []string) (int, error) {
			_, err := fmt.Fprint(p.stdout, manual(p.version))
			return exitOK, err
		},
	}
}

// manual is stallmark(8), from the same tables and texts as --help.
func manual(version string) string {
	m := &roff{}
	fmt.Fprintf(m, ".TH STALLMARK 8 \"\" %q \"System administration\"\n", "stallmark "+roffText(version))
	m.section("NAME")
	m.text("stallmark - tells why a message broker on this host just stalled")
	m.section("SYNOPSIS")
	for _, c := range commands() {
		if !c.hidden {
			fmt.Fprintf(m, ".B stallmark\n%s\n.br\n", roffText(strings.TrimSpace(c.name+" [options] "+c.args)))
		}
	}
	m.section("DESCRIPTION")
	m.text(manualDescription)
	m.section("COMMANDS")
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		fmt.Fprintf(m, ".SS %s\n", roffText(strings.TrimSpace(c.name+" "+c.args)))
		m.text(c.summary + ".")
		m.verbatim(c.help)
		if c.options != nil {
			m.options(c.options(newOptions()))
		}
	}
	m.section("OPTIONS OF EVERY COMMAND")
	m.options(newOptions().global())
	for _, s := range manualRest() {
		m.section(s.title)
		m.text(s.text)
	}
	return m.String()
}

const manualDescription = `Stallmark samples what the kernel says about dirty pages, reclaim, disks, faults, pressure and the
broker's own threads, keeps it, recognises known failure signatures by their physics, and shows the verdict, the
evidence, what is ruled out, and the fix computed for this host. It changes nothing on the host.

Without a command it serves.`

// manualSection is a section that no table has.
type manualSection struct{ title, text string }

func manualRest() []manualSection {
	return []manualSection{
		{"CONFIGURATION FILE", `A YAML file named with --config. Its keys are the long names of the options, but for those marked (*);
an option on the command line goes before it. The installed one explains each key.`},
		{"SIGNALS", `SIGTERM and SIGINT end "serve" within two seconds; nothing that was sampled is lost. SIGHUP has it read the
signatures and log patterns again, and the list of their folders in the configuration file; what fires goes on under its name.`},
		{"EXIT STATUS", `0 nothing found; 1 findings (diagnose), mistakes, failed tests or lines that point at a fault (rules), advice (audit); 2 usage, unreadable
input, or it could not run; 3 nothing found, but a critical kernel cause could not be judged (diagnose).`},
		{"PERMISSIONS", `It runs as any user and says in its coverage what it could not see and why. CAP_SYS_PTRACE and
CAP_DAC_READ_SEARCH show descriptors, I/O counters and mappings of brokers that other users run, and in which kernel
function their threads wait. CAP_PERFMON adds exact waits, from the kernel's tracepoints (on Debian and Ubuntu also
"sysctl kernel.perf_event_paranoid=2"), CAP_SYSLOG the kernel's log, CAP_FOWNER which bytes of data files are in memory.
CAP_SYS_ADMIN adds kernel stacks; the service does without it. CAP_SYS_RESOURCE lets the kernel itself wake it under pressure, instead of a look
every 250 ms. Memory is locked if RLIMIT_MEMLOCK is unlimited or with CAP_IPC_LOCK.`},
		{"FILES", `/etc/stallmark/stallmark.yaml: configuration of the service.

/etc/stallmark/rules: signatures of your own, if the configuration names it.

/var/lib/stallmark: the data of the service.`},
		{"SEE ALSO", "systemd.service(5), proc(5), vmstat(8), iostat(1)"},
	}
}

// roff writes the man macros.
type roff struct{ strings.Builder }

func (m *roff) section(title string) { fmt.Fprintf(m, ".SH %q\n", title) }

// text writes paragraphs that are filled.
func (m *roff) text(s string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			fmt.Fprintln(m, ".PP")
		}
		fmt.Fprintln(m, roffText(paragraph))
	}
}

// verbatim writes lines as they stand.
func (m *roff) verbatim(s string) {
	if s = strings.TrimSpace(s); s != "" {
		fmt.Fprintf(m, ".PP\n.nf\n%s\n.fi\n", roffText(s))
	}
}

// options writes a list of options with their defaults.
func (m *roff) options(table []option) {
	for _, o := range table {
		fmt.Fprintf(m, ".TP\n.B %s\n%s\n", roffText(strings.TrimSpace(o.flag()+" "+o.arg)), roffText(o.about()))
	}
}

// roffText keeps text from being taken for requests: no line may begin with a
// dot or a quote, and backslashes and minus signs are spelt out.
func roffText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
