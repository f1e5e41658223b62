package rules

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"stallmark/storage/model"
)

// remedyData is the dot of a remedy's templates.
type remedyData struct {
	V       map[string]any // the remedy's values; nil where one is not measured
	Subject map[string]any // the subject's labels
}

// text is the data as a text refers to it.
func (d remedyData) text() textData { return textData{"V": d.V, "Subject": d.Subject} }

// remedies renders the advice that applies to this host now. Advice whose text
// needs a value that is missing is left out.
func remedies(ctx context.Context, b *beat, s *Signature, subject map[string]string) ([]model.Remedy, error) {
	out := []model.Remedy{}
	if len(s.Remedy) == 0 {
		return out, nil
	}
	if err := b.readFacts(ctx); err != nil {
		return out, fmt.Errorf("facts: %w", err)
	}
	var errs []error
	for i := range s.Remedy {
		m, ok, err := s.Remedy[i].render(ctx, b, subject)
		if err != nil {
			errs = append(errs, err)
		}
		if ok {
			out = append(out, m)
		}
	}
	return out, errors.Join(errs...)
}

// render gives one piece of advice, and whether it applies.
func (r *RemedyRule) render(ctx context.Context, b *beat, subject map[string]string) (model.Remedy, bool, error) {
	if r.When != "" {
		v, err := b.instant(ctx, r.When)
		if err != nil {
			return model.Remedy{}, false, err
		}
		if furthest(v, subject, Above) == nil {
			return model.Remedy{}, false, nil
		}
	}
	data := remedyData{V: map[string]any{}, Subject: anyMap(subject)}
	for name, expr := range r.Values {
		v, err := b.instant(ctx, expr)
		if err != nil {
			return model.Remedy{}, false, err
		}
		data.V[name] = nil
		if s := furthest(v, subject, Above); s != nil {
			data.V[name] = s.F
		}
	}
	m, ok := r.fill(data, b.fact)
	return m, ok, nil
}

// fill renders the texts. It reports false if one of them lacks a value.
func (r *RemedyRule) fill(data remedyData, fact func(string) any) (model.Remedy, bool) {
	m := model.Remedy{Title: r.Title, Kind: r.Kind}
	safe := remedyData{V: data.V, Subject: safeSubject(data.Subject)}
	safeFact := func(key string) any { return safeForCommand(fact(key)) }
	for _, part := range []struct {
		source  string
		into    *string
		command bool
	}{
		{r.Why, &m.Why, false},
		{r.Current, &m.Current, false},
		{r.Apply, &m.Apply, true},
		{r.Persist, &m.Persist, true},
		{r.Rollback, &m.Rollback, true},
		{r.Verify, &m.Verify, false},
		{r.Risk, &m.Risk, false},
	} {
		d, f := data, fact
		if part.command {
			d, f = safe, safeFact
		}
		text, err := render(part.source, d.text(), f)
		if err != nil {
			return model.Remedy{}, false
		}
		if part.command {
			text = fillIn(text, safe.Subject, safeFact)
		}
		*part.into = text
	}
	return m, true
}

// plainWord is text that means nothing to a shell. Names of devices, processes
// and cgroups and the values of facts are other people's text: what is not
// plain never gets into a command that somebody may paste.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]*$`)

// placeholder is a word in a command that stands for something of a process.
var placeholder = regexp.MustCompile(`\b(PID|STORE|LOGS|GC_LOG)\b`)

// fillIn puts what is known of the subject's process in the place of such words:
// its number, and the folders and files that its facts name. A list of folders,
// or a name that the JVM completes (%p), stays for the reader to fill in.
func fillIn(command string, subject map[string]any, fact func(string) any) string {
	pid, _ := subject["pid"].(string)
	if pid == "" {
		return command
	}
	return placeholder.ReplaceAllStringFunc(command, func(word string) string {
		if word == "PID" {
			return pid
		}
		value, _ := fact("process." + pid + "." + strings.ToLower(word)).(string)
		if value == "" || strings.ContainsAny(value, "%,") {
			return word
		}
		return value
	})
}

func safeForCommand(v any) any {
	if s, ok := v.(string); ok && !plainWord.MatchString(s) {
		return nil
	}
	return v
}

func safeSubject(subject map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range subject {
		out[k] = safeForCommand(v)
	}
	return out
}
