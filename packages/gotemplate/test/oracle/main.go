// The oracle renders templates with Go's own text/template, so that this package can be compared with it.
//
// It reads one JSON request per line from standard input, and writes one JSON response per line to standard output:
//
//	{"id": 1, "template": "…", "data": …, "builtins": true, "functions": true, "time": {"key": "t", "ms": 0}, "missingKey": "error"}
//	{"id": 1, "output": "…"}
//	{"id": 1, "phase": "parse" | "exec", "error": "…", "output": "the output before the error"}
//
// "builtins": false removes Go's own functions; "functions": true adds seven host functions. "time" puts a time.Time
// under a key of the data, and "missingKey": "error" makes a missing key an error. With -bench, the requests are
// measured instead of answered.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/template"
	syntax "text/template/parse"
	"time"
)

type timeValue struct {
	Key string `json:"key"`
	Ms  int64  `json:"ms"`
}

type request struct {
	ID         int             `json:"id"`
	Template   string          `json:"template"`
	Data       json.RawMessage `json:"data"`
	Builtins   *bool           `json:"builtins"`
	Functions  bool            `json:"functions"`
	Time       *timeValue      `json:"time"`
	MissingKey string          `json:"missingKey"`
}

type answer struct {
	ID     int    `json:"id"`
	Phase  string `json:"phase,omitempty"`
	Error  string `json:"error,omitempty"`
	Output string `json:"output"`
}

const name = "main"

var hostFunctions = template.FuncMap{
	"toJson": func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	},
	"jsonEscape": func(value any) (string, error) {
		text, err := json.Marshal(fmt.Sprint(value))
		if err != nil {
			return "", err
		}
		return string(text[1 : len(text)-1]), nil
	},
	"toString": func(value any) string { return fmt.Sprint(value) },
	"toUpper":  strings.ToUpper,
	"toLower":  strings.ToLower,
	"now":      func() string { return "2026-11-14T00:00:00Z" },
	"env": func(key string) (string, error) {
		if key == "FAIL" {
			return "", errors.New("no such variable")
		}
		return "<" + key + ">", nil
	},
}

func main() {
	bench := flag.Duration("bench", 0, "measure each request for this long instead of answering it")
	flag.Parse()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<28)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var reply any
		if *bench > 0 {
			reply = measure(r, *bench)
		} else {
			reply = render(r)
		}
		text, err := json.Marshal(reply)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(text)
		out.WriteByte('\n')
		out.Flush()
	}
}

func parse(r request) (*template.Template, error) {
	t := template.New(name)
	if r.MissingKey != "" {
		t = t.Option("missingkey=" + r.MissingKey)
	}
	functions := template.FuncMap{}
	if r.Functions {
		functions = hostFunctions
	}
	if r.Builtins != nil && !*r.Builtins {
		// A template always has Go's own functions, but its parser has only the functions that it is given.
		if _, err := syntax.Parse(name, r.Template, "", "", functions); err != nil {
			return nil, err
		}
	}
	t = t.Funcs(functions)
	return t.Parse(r.Template)
}

func data(r request) any {
	var value any
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, &value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	value = clip(value)
	if object, ok := value.(map[string]any); ok && r.Time != nil {
		object[r.Time.Key] = time.UnixMilli(r.Time.Ms).UTC()
	}
	return value
}

// clip removes the spare capacity of every slice. Templates can see the capacity, which depends on how the data was
// read.
func clip(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = clip(v[i])
		}
		return v[:len(v):len(v)]
	case map[string]any:
		for key := range v {
			v[key] = clip(v[key])
		}
	}
	return value
}

func render(r request) answer {
	t, err := parse(r)
	if err != nil {
		return answer{ID: r.ID, Phase: "parse", Error: err.Error()}
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data(r)); err != nil {
		return answer{ID: r.ID, Phase: "exec", Error: err.Error(), Output: out.String()}
	}
	return answer{ID: r.ID, Output: out.String()}
}

type measurement struct {
	ID            int     `json:"id"`
	ParseMicros   float64 `json:"parseMicros"`
	ExecuteMicros float64 `json:"executeMicros"`
}

func measure(r request, duration time.Duration) measurement {
	value := data(r)
	t, err := parse(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return measurement{
		ID:            r.ID,
		ParseMicros:   micros(duration, func() error { _, err := parse(r); return err }),
		ExecuteMicros: micros(duration, func() error { return execute(t, value) }),
	}
}

func execute(t *template.Template, value any) error {
	var out strings.Builder
	return t.Execute(&out, value)
}

func micros(duration time.Duration, work func() error) float64 {
	start := time.Now()
	count := 0
	for time.Since(start) < duration {
		for i := 0; i < 50; i++ {
			if err := work(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		count += 50
	}
	return float64(time.Since(start).Nanoseconds()) / 1000 / float64(count)
}
