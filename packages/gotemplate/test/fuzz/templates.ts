// Random templates. Most follow the language grammar, and some are damaged afterwards.
import * as fc from 'fast-check'
import { type Case } from '../oracle/oracle.ts'
import { data } from './data.ts'
import { type Rule, joined, often, pick } from './grammar.ts'
import { command, fields, operand, pipeline } from './pipelines.ts'

const left = often('{{', '{{- ', '{{ ', '{{-\n')
const right = often('}}', ' -}}', ' }}', '\n-}}')
const action = (content: Rule): Rule => joined(left, content, right)
const end = action(fc.constant('end'))
const declaration = pick('', '', '', '$x := ', '$y := ', '$z := ')
const start = (word: string): Rule => action(joined(fc.constant(`${word} `), declaration, pipeline))
const rangeVariables = pick('', '', '', '$i := ', '$i, $x := ', '$i, $y := ', '$z, $z := ')
const rangeSource = fc.oneof(pick('.l', '.m', '.a', '.b', '.', '$y', '.l', '.m'), pipeline)
const startRange = action(joined(fc.constant('range '), rangeVariables, rangeSource))
const jump = often(
  '',
  '{{break}}',
  '{{continue}}',
  '{{if .}}{{break}}{{end}}',
  '{{if $x}}x{{continue}}{{end}}',
)
const plain = fc.oneof(
  { weight: 12, arbitrary: pick('', ' ', 'x', '\n', ' text ', '}}', '-', 'é', '"', '\t', '{ ', '\u00a0') },
  { weight: 1, arbitrary: pick('{{/* c */}}', '{{- /* c */ -}}', '{{/**/}}') },
)
const broken = pick(
  '{',
  '{{break}}',
  '{{end}}',
  '{{else}}',
  '{{nope}}',
  '{{$nope}}',
  '{{1i}}',
  '{{}}',
  '{{.a | 1}}',
  '{{define "x"}}',
  '{{"a}}',
)
const set = action(joined(pick('$x := ', '$x = ', '$y:=', '$y = ', '$z := '), pipeline))
const call = action(
  joined(
    fc.constant('template '),
    fc.oneof(
      { weight: 6, arbitrary: pick('"one"', '"two"', '`one`') },
      { weight: 1, arbitrary: fc.constant('"none"') },
    ),
    pick('', ' .', ' $x', ' .m', ' .l', ' "v"', ' 1.5', ' (index .l 0)'),
  ),
)

/** The start of every template. It declares the variables, so that they usually exist. */
const prelude = often(
  '{{$x := .a}}{{$y := .l}}{{$i := 1}}{{$z := .z}}',
  '',
  '{{$x := 1}}{{$y := "v"}}{{$i := 0}}{{$z := .}}',
)

const { list } = fc.letrec<{ statement: string; list: string }>((tie) => {
  const body = tie('list')
  const otherwise = fc.oneof(fc.constant(''), joined(action(fc.constant('else')), body))
  const rangeElse = fc.oneof(otherwise, joined(action(fc.constant('else')), body, jump, body))
  const blockStart = action(joined(pick('block "b1" ', 'block "b2" ', 'block `b3` '), pipeline))
  return {
    statement: fc.oneof(
      { depthSize: 'small' },
      { weight: 30, arbitrary: plain },
      { weight: 80, arbitrary: action(pipeline) },
      { weight: 12, arbitrary: set },
      { weight: 14, arbitrary: joined(start('if'), body, otherwise, end) },
      { weight: 7, arbitrary: joined(start('if'), body, start('else if'), body, otherwise, end) },
      { weight: 14, arbitrary: joined(start('with'), body, otherwise, end) },
      { weight: 20, arbitrary: joined(startRange, body, jump, body, rangeElse, end) },
      { weight: 10, arbitrary: call },
      { weight: 5, arbitrary: joined(blockStart, prelude, body, end) },
      { weight: 1, arbitrary: broken },
    ),
    list: fc.array(tie('statement'), { maxLength: 4 }).map((statements) => statements.join('')),
  }
})

const definitions = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constant(
      '{{define "one"}}[{{.}}|{{$}}]{{end}}{{define "two"}}{{with .}}{{.}}{{end}}{{end}}',
    ),
  },
  {
    weight: 2,
    arbitrary: list.map(
      (body) => `{{define "two"}}{{$x := .}}{{$y := 1}}{{$i := 2}}{{$z := 3}}${body}{{end}}`,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant('{{define "two"}} {{end}}{{define "two"}}2{{end}}{{define "main"}}{{end}}'),
  },
  { weight: 1, arbitrary: fc.constant('') },
)

const pieces = [
  '',
  '{{',
  '}}',
  '(',
  ')',
  '|',
  '$',
  '.',
  '"',
  '`',
  "'",
  ' ',
  '-',
  ':=',
  ',',
  '0',
  'x',
  'é',
  '\\',
  '\n',
  '%',
]

/** Removes or inserts text at a random position. */
const damage = fc.oneof(
  { weight: 9, arbitrary: fc.constant((whole: string) => whole) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(), fc.nat(3), pick(...pieces))
      .map(([at, length, piece]) => (whole: string) => {
        const place = whole.length === 0 ? 0 : at % whole.length
        return (whole.slice(0, place) + piece + whole.slice(place + length)).toWellFormed()
      }),
  },
)

const milliseconds = fc.oneof(
  fc.constantFrom(0, 1e12, 1.7e12, 951782399999, -62135596800000),
  // The limit excludes years after 2150: printed as characters, they are letters that older Go versions do not know.
  fc.integer({ min: -1e13, max: 5.6e12 }),
)
const content = fc.oneof(
  { weight: 5, arbitrary: joined(list, list) },
  // Individual actions, so that errors do not hide each other.
  {
    weight: 3,
    arbitrary: action(
      fc.oneof(
        { weight: 4, arbitrary: command },
        { weight: 2, arbitrary: operand },
        { weight: 1, arbitrary: joined(operand, fields) },
      ),
    ),
  },
)

/** Random templates with their data. */
export const cases: fc.Arbitrary<Case> = fc
  .tuple(definitions, prelude, content, damage, data, milliseconds, fc.nat(7))
  .map(([defined, beginning, body, change, random, ms, kind]) => {
    const isObject = typeof random === 'object' && random !== null && !Array.isArray(random)
    const template = change(defined + beginning + body)
    return {
      template,
      data: random,
      functions: true,
      ...(isObject ? { time: { key: 't', ms } } : {}),
      ...(kind === 0 ? { missingKey: 'error' } : {}),
    }
  })
