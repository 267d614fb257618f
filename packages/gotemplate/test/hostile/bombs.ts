// Templates that would run for a very long time or write very large outputs. Each entry names the limit that
// must stop it.
import { repeat } from './kit.ts'

const doubling = `{{$x := "0123456789"}}${repeat('{{$x = print $x $x}}', 60)}{{$x}}`

/** The name, the template, and the limit that must stop the template. */
export const bombs: [string, string, string][] = [
  ['an empty loop over a million elements', '{{range .numbers}}{{end}}', 'steps'],
  ['an empty loop over a billion', '{{range 1000000000}}{{end}}', 'steps'],
  ['a loop over the largest integer', '{{range 9223372036854775807}}{{continue}}{{end}}', 'steps'],
  ['nested loops', `${repeat('{{range 1000}}', 20)}${repeat('{{end}}', 20)}`, 'steps'],
  [
    'a loop with an expensive condition',
    `{{range .list}}{{if and ${repeat('(not (not 1)) ', 1000)}}}{{end}}{{end}}`,
    'steps',
  ],
  ['a loop over long chains of fields', `{{range .numbers}}{{$.none${repeat('.a', 2000)}}}{{end}}`, 'steps'],
  [
    'many variables, looked up from afar',
    `{{$first := 1}}${repeat('{{$x := 1}}', 5000)}{{range .numbers}}{{$first}}{{end}}`,
    'steps',
  ],
  ['a template that calls itself', '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', 'depth'],
  [
    'two templates that call each other',
    '{{define "a"}}{{template "b"}}{{end}}{{define "b"}}{{template "a"}}{{end}}{{template "a"}}',
    'depth',
  ],
  ['the whole template calling itself', 'x{{template "template"}}', 'depth'],
  [
    'recursion inside deep blocks',
    `{{define "a"}}${repeat('{{if 1}}', 150)}{{template "a"}}${repeat('{{end}}', 150)}{{end}}{{template "a"}}`,
    'depth',
  ],
  [
    'recursion that fans out',
    '{{define "a"}}{{template "a"}}{{template "a"}}{{end}}{{template "a"}}',
    'depth',
  ],
  [
    'a tree of calls',
    `${[0, 1, 2, 3, 4, 5, 6].map((n) => `{{define "t${n}"}}${repeat(`{{template "t${n + 1}"}}`, 10)}{{end}}`).join('')}{{define "t7"}}x{{end}}{{template "t0"}}`,
    'steps',
  ],
  ['a long text in many copies', '{{range .numbers}}{{$.text}}{{end}}', 'outputBytes'],
  ['a string that doubles', doubling, 'outputBytes'],
  [
    'a string that doubles by printf',
    doubling.replaceAll('print $x $x', 'printf "%s%s" $x $x'),
    'outputBytes',
  ],
  ['a string that doubles and is thrown away', doubling.replace('{{$x}}', ''), 'outputBytes'],
  ['escapes of escapes', `{{$x := .text}}${repeat('{{$x = html (printf "%q" $x)}}', 50)}`, 'outputBytes'],
  ['a large width', repeat('{{printf "%1000000d" 1}}', 60), 'outputBytes'],
  ['a large width from an argument', repeat('{{printf "%*s" 1000000 "x"}}', 60), 'outputBytes'],
  ['a large precision', repeat('{{printf "%.1000000f" 1.5}}', 60), 'outputBytes'],
  ['a large precision of an integer', repeat('{{$x := printf "%.1000000d" 1}}', 60), 'outputBytes'],
  ['a large precision of a code point', repeat('{{$x := printf "%.1000000U" 1}}', 60), 'outputBytes'],
  ['widths in a loop', '{{range .numbers}}{{$x := printf "%999999d" 1}}{{end}}', 'outputBytes'],
  ['hexadecimal in a loop', '{{range .numbers}}{{$x := printf "% #x" $.text}}{{end}}', 'outputBytes'],
  ['a wide map printed again and again', '{{range .numbers}}{{$x := print $.wide}}{{end}}', 'steps'],
  ['a million elements printed', '{{.numbers}}', 'steps'],
  ['a wide map walked again and again', '{{range .numbers}}{{range $.wide}}{{end}}{{end}}', 'steps'],
  ['a wide map counted again and again', '{{range .numbers}}{{len $.wide}}{{end}}', 'steps'],
  ['slices of a large list', '{{range .numbers}}{{$x := slice $.numbers 0 900000}}{{end}}', 'steps'],
  ['slices of a long text', '{{range .numbers}}{{$x := slice $.text 1 2}}{{end}}', 'steps'],
  ['a byte of a long text', '{{range .numbers}}{{$x := index $.text 5}}{{end}}', 'steps'],
  ['the length of a long text', '{{range .numbers}}{{$x := len $.text}}{{end}}', 'steps'],
  [
    'a long text compared',
    '{{$y := print .text "y"}}{{$x := print .text "x"}}{{range .numbers}}{{lt $x $y}}{{end}}',
    'steps',
  ],
  ['a loop that writes', '{{range .numbers}}0123456789{{end}}', 'steps'],
]
