// Tests the reports of missing values, and the checks of field names before execution.
import { describe, expect, test } from 'vitest'
import { type MissingValue, TemplateError, type TemplateFunction, parse } from '../src/index.ts'

const show: TemplateFunction<['any']> = {
  parameters: ['any'],
  call: ([value], context) => context.print(value),
}
const upper: TemplateFunction<['string']> = { parameters: ['string'], call: ([text]) => text.toUpperCase() }
const functions = { show, upper }
const data = { a: { b: 'x', n: null, m: new Map([['k', 1]]) }, l: [{ v: 1 }, {}, {}], e: '' }

const missing = (template: string, given: unknown = data): string[] => {
  const found: MissingValue[] = []
  parse(template, { functions }).execute(given, {}, (one) => found.push(one))
  return found.map(
    ({ name, isMissingKey, givenTo, line, column }) =>
      `${line}:${column} ${name}${isMissingKey ? '' : ' (nil)'}${givenTo === null ? '' : ` to ${givenTo}`}`,
  )
}

describe('values that are missing', () => {
  test.each([
    ['a field', '{{.x}}', ['1:3 .x']],
    ['a field of a map that is there', 'text\n  {{.a.x}}', ['2:5 .a.x']],
    ['the first that is missing of a chain', '{{.a.x.y.z}} {{.x.y}}', ['1:3 .a.x', '1:16 .x']],
    ['an entry of a Map', '{{.a.m.x}}{{.a.m.k}}', ['1:3 .a.m.x']],
    ['from the data by its variable', '{{with .a}}{{$.x}}{{end}}', ['1:14 $.x']],
    ['a field of another variable', '{{$v := .a}}{{$v.x}}', ['1:15 $v.x']],
    ['a variable that took what is missing', '{{$v := .x}}{{$v}}{{$v.y}}', ['1:15 $v (nil)', '1:21 $v.y']],
    [
      'of the dot that a block has',
      '{{with .a}}{{.x}}{{end}}{{range .l}}{{.v}}{{end}}',
      ['1:14 .x', '1:39 .v'],
    ],
    ['in another template', '{{define "d"}}{{.x}}{{end}}{{template "d" .a}}', ['1:17 .x']],
    ['a dot without a value', '{{define "d"}}{{.}}{{end}}{{template "d"}}', ['1:17 . (nil)']],
    ['nil in the data', '{{.a.n}}', ['1:3 .a.n (nil)']],
    ['in parentheses', '{{((.a.x))}}', ['1:5 .a.x']],
    [
      'the result of a function',
      '{{index .a "x"}}{{or .e .x}}{{(index .a "n")}}',
      ['1:3 index (nil)', '1:19 or (nil)', '1:32 index (nil)'],
    ],
    ['a method of what is missing', '{{.a.at.Format "2006"}}', ['1:3 .a.at']],
    [
      'given to a function that takes anything',
      '{{show .x}}{{print 1 .a.x}}',
      ['1:8 .x to show', '1:22 .a.x to print'],
    ],
    ['piped to it', '{{.x | show}}{{(.a.x) | show | upper}}', ['1:3 .x to show', '1:17 .a.x to show']],
  ])('%s', (_what, template, expected) => {
    expect(missing(template)).toEqual(expected)
  })

  test.each([
    '{{if .x}}a{{else}}b{{end}}{{if .a.x.y}}a{{end}}',
    '{{with .x}}{{.}}{{end}}{{range .x}}a{{end}}',
    '{{or .x "default"}}{{if and .a .x}}a{{end}}{{if not .x}}a{{end}}',
    '{{$v := .x}}{{if $v}}a{{end}}',
    '{{show .a.n}}{{.a.n | show}}{{show nil}}{{show .e}}{{.e}}',
    '{{.a.b}}{{range .l}}{{with .v}}{{.}}{{end}}{{end}}',
    '{{if false}}{{.x}}{{end}}',
  ])('%s tells of none', (template) => {
    expect(missing(template)).toEqual([])
  })

  test('nothing else changes: the text and the budget are the same', () => {
    const others = Array.from({ length: 20 }, (_, i) => `{{$v${i} := 1}}`).join('')
    const template = parse(`{{$a := .a}}${others}{{range .l}}{{.v}}{{.w}}{{print .x}}{{print $a.n}}{{end}}`)
    const outcomes = (onMissing?: () => void): string[] =>
      Array.from({ length: 100 }, (_, steps) => {
        try {
          return template.execute(data, { steps }, onMissing)
        } catch (error) {
          return (error as Error).message
        }
      })
    const plain = outcomes()
    expect(plain.at(-1)).toBe(
      '1<no value><nil><nil><no value><no value><nil><nil><no value><no value><nil><nil>',
    )
    expect(plain[80]).toMatch(/step budget/)
    expect(outcomes(() => undefined)).toEqual(plain)
  })
})

describe('a missing key as an error', () => {
  const failure = (template: string, given: unknown = data): TemplateError => {
    try {
      parse(template, { functions, missingKey: 'error' }).execute(given)
    } catch (error) {
      if (error instanceof TemplateError) return error
      throw error
    }
    throw new Error('nothing was thrown')
  }

  test('names the key and its place; other failures have no key', () => {
    const { message, missingKey, phase, line, column } = failure('a\n{{if .a.x}}b{{end}}')
    expect(message.split('\n')[0]).toBe('template:2:6: map has no entry for key "x"')
    expect({ missingKey, phase, line, column }).toEqual({
      missingKey: 'x',
      phase: 'exec',
      line: 2,
      column: 6,
    })
    expect(failure('{{$v := .a.n}}{{$v.y}}').reason).toBe('nil data; no entry for key "y"')
    expect(failure('{{$v := .a.n}}{{$v.y 1}}').missingKey).toBe('y')
    expect(failure('{{.a.b.y}}').missingKey).toBeNull()
  })

  test('only where it is asked for', () => {
    expect(parse('{{.x}}', { missingKey: 'default' }).execute({})).toBe('<no value>')
  })
})

describe('fields that are judged before', () => {
  /** Returns the fields that the template certainly reads from the data. */
  const fields = (template: string): string[] => {
    const found: string[] = []
    parse(template).checkFields((names) => {
      found.push(names.join('.'))
      return null
    })
    return found
  }

  test.each([
    ['{{.a}} {{.b.c}} {{$.d}}', ['a', 'b.c', 'd']],
    ['{{if .a}}{{.b}}{{else if .c}}{{.d}}{{else}}{{.e}}{{end}}', ['a', 'b', 'c', 'd', 'e']],
    ['{{with .a}}{{.no}}{{$.b}}{{else with .c}}{{.no}}{{else}}{{.d}}{{end}}', ['a', 'b', 'c', 'd']],
    ['{{range .a}}{{.no}}{{if .no}}{{$.b}}{{end}}{{else}}{{.c}}{{end}}', ['a', 'b', 'c']],
    ['{{range $i, $e := .a}}{{$e.no}}{{with $.b}}{{.no}}{{end}}{{end}}', ['a', 'b']],
    ['{{$v := .a}}{{$v.no}}{{$v = .b}}', ['a', 'b']],
    ['{{print .a (len .b) | printf "%v%v" .c}}{{(index .d 0).no}}{{(.e).no}}', ['a', 'b', 'c', 'd', 'e']],
    ['{{define "d"}}{{.no}}{{$.no}}{{end}}{{template "d" .a}}{{block "e" .b}}{{.no}}{{end}}', ['a', 'b']],
    ['{{.a}}{{$ := 1}}{{$.no}}', ['a']],
    ['{{.}}{{$}}{{"text"}}', []],
    // The template calls itself, so its dot may be any value.
    ['{{.no}}{{if .no}}{{template "template" .no}}{{end}}', []],
    ['{{define "d"}}{{template "template"}}{{end}}{{.no}}', []],
  ])('%s', (template, expected) => {
    expect(fields(template)).toEqual(expected)
  })

  test('the first one with which fault is found is an error with its place', () => {
    const template = parse('{{.a}}\n{{.b}}{{.c}}', { name: 'mine' })
    const check = (): void => template.checkFields(([name]) => (name === 'a' ? null : `no ${name}`))
    expect(check).toThrow('mine:2:3: no b\n  {{.b}}{{.c}}\n    ^')
    expect(check).toThrow(TemplateError)
  })
})
