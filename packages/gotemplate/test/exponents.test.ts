// Tests reports of numbers that are written with an exponent, and errors for text in single quotes.
import { describe, expect, test } from 'vitest'
import { type ExponentNumber, type TemplateFunction, parse } from '../src/index.ts'

const show: TemplateFunction<['any']> = {
  parameters: ['any'],
  call: ([value], context) => context.print(value),
}
const json: TemplateFunction<['any']> = {
  parameters: ['any'],
  call: ([value], context) => {
    const text = JSON.stringify(value)
    context.noteNumber(value as number, text)
    return text
  },
}
const functions = { show, json }
const data = {
  n: 1e6,
  k: 999_999,
  small: 0.00001,
  large: 1e21,
  l: [1, 2e7],
  m: { a: 3e8 },
  i: 10n ** 18n,
  s: '1e+06',
}

const told = (template: string, given: unknown = data): string[] => {
  const found: ExponentNumber[] = []
  parse(template, { functions }).execute(given, {}, { onExponent: (one) => found.push(one) })
  return found.map(({ value, text, line, column }) => `${line}:${column} ${value} ${text}`)
}

describe('a number with an exponent', () => {
  test.each([
    ['written by an action', '{{.n}}', ['1:3 1000000 1e+06']],
    ['small', '\n {{.small}}', ['2:4 0.00001 1e-05']],
    ['in a list or a map', '{{.l}}{{.m}}', ['1:3 20000000 2e+07', '1:9 300000000 3e+08']],
    ['of a variable', '{{$v := .n}}{{$v}}', ['1:15 1000000 1e+06']],
    ['a constant', '{{1e6}}', ['1:3 1000000 1e+06']],
    [
      'printed by a builtin',
      '{{print .n .k}}{{println .n}}{{printf "%v" .n}}',
      ['1:3 1000000 1e+06', '1:18 1000000 1e+06', '1:32 1000000 1e+06'],
    ],
    [
      'printed by a function of the host',
      '{{show .n}}{{.n | show}}',
      ['1:3 1000000 1e+06', '1:19 1000000 1e+06'],
    ],
    ['that a function of the host writes', '{{json .n}}{{json .large}}', ['1:14 1e+21 1e+21']],
    ['of one place once', '{{range .l}}{{$.n}}{{end}}', ['1:15 1000000 1e+06']],
  ])('%s is told', (_what, template, expected) => {
    expect(told(template)).toEqual(expected)
  })

  test.each([
    '{{.k}}{{1000000}}{{.i}}{{.s}}',
    '{{if .n}}a{{end}}{{if eq .n 1e6}}a{{end}}{{with .n}}a{{end}}',
    '{{printf "%.0f %e %g" .n .n .n}}',
  ])('%s tells of none', (template) => {
    expect(told(template)).toEqual([])
  })

  test('nothing else changes: the text and the budget are the same', () => {
    const template = parse('{{.n}}{{.l}}{{print .m}}{{.x}}', { functions })
    const outcomes = (reports?: Parameters<typeof template.execute>[2]): string[] =>
      Array.from({ length: 40 }, (_, steps) => {
        try {
          return template.execute(data, { steps }, reports)
        } catch (error) {
          return (error as Error).message
        }
      })
    expect(outcomes().at(-1)).toBe('1e+06[1 2e+07]map[a:3e+08]<no value>')
    expect(outcomes({ onExponent: () => undefined, onMissing: () => undefined })).toEqual(outcomes())
  })
})

test.each(["{{env 'KEY'}}", "{{env 'KEY}}", "{{env ''}}"])(
  '%s is refused with a hint about double quotes',
  (template) => {
    const env: TemplateFunction<['string']> = { parameters: ['string'], call: () => '' }
    expect(() => parse(template, { functions: { env } })).toThrow(
      /character constant.*; write text in double quotes\n/,
    )
  },
)
