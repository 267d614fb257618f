// The random grammar inside actions: constants, operands, calls and pipelines.
import * as fc from 'fast-check'
import { names, number, text } from './data.ts'
import { format } from './formats.ts'
import { type Rule, joined, often, pick } from './grammar.ts'

const integers = [
  '0',
  '1',
  '2',
  '3',
  '-1',
  '7',
  '0x1F',
  '0X_ff',
  '0o17',
  '0b101',
  '017',
  '0_7',
  '1_000',
  '+5',
  '0x1e',
  "'a'",
  "'é'",
]
const bigIntegers = [
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615',
]
const floats = [
  '1.5',
  '0.1',
  '-2.5',
  '1e3',
  '1E-7',
  '.5',
  '5.',
  '1_0.2_5',
  '0x1p-2',
  '0x1.8p1',
  '-0.0',
  '1e21',
  '-0x1e',
  '2.0',
]
const characters = ["'a'", "'\\n'", "'\\''", "'é'", "'\\x41'", "'\\xff'", "'\\u00e9'", "'\\101'", "'😀'"]
const brokenConstants = [
  '18446744073709551616',
  '0x',
  '1__0',
  '08',
  '1e',
  '0xfffffffffffffffff',
  '1_',
  '-',
  '1e400',
  "''",
  "'ab'",
  "'\\\"'",
  '"\\q"',
  '"\\400"',
  '"\\ud800"',
  '1i',
]

const integer = fc.oneof(
  { weight: 8, arbitrary: pick(...integers) },
  { weight: 1, arbitrary: pick(...bigIntegers) },
)
const float = fc.oneof(
  { weight: 3, arbitrary: pick(...floats) },
  { weight: 1, arbitrary: number.map(String) },
)
const constant = fc.oneof(
  { weight: 8, arbitrary: integer },
  { weight: 6, arbitrary: float },
  { weight: 2, arbitrary: pick(...characters) },
)

/** Text, quoted for a template. */
const quotedText = fc.oneof(
  {
    weight: 6,
    arbitrary: text.map((content) => JSON.stringify(content.toWellFormed()).replaceAll('\u0000', '')),
  },
  { weight: 1, arbitrary: text.map((content) => `\`${content.toWellFormed().replaceAll('`', '')}\``) },
  {
    weight: 1,
    arbitrary: pick(
      '"\\xff"',
      '"\\xc3\\xa9"',
      '"\\xc3"',
      '"\\xa9"',
      '"a\\xe4b"',
      '"\\303\\251"',
      '"\\U0001F600"',
      '"\\a\\v"',
    ),
  },
)

const space = often(' ', '  ', '\t', '\n', ' \r\n ')
export const fields: Rule = fc
  .array(pick(...names), { minLength: 1, maxLength: 2 })
  .map((list) => list.map((name) => `.${name}`).join(''))
const variable = fc.oneof(
  { weight: 8, arbitrary: pick('$', '$x', '$x', '$y', '$i') },
  { weight: 1, arbitrary: fc.constant('$z') },
)

const layouts = [
  '2006-01-02T15:04:05.000Z07:00',
  'Mon Jan _2 3:4:5PM 06 MST -0700 .999 __2 002',
  'Monday, January 2 15h',
  ',000 pm 1 Z0700',
]
const time = fc.oneof(
  pick(
    '.t',
    '.t.Year',
    '.t.Month',
    '.t.Weekday',
    '.t.Unix',
    '.t.UnixMilli',
    '.t.YearDay',
    '.t.UTC.Hour',
    '.t.IsZero',
    '.t.Month.String',
  ),
  pick(
    ...layouts.map((layout) => `(.t.Format "${layout}")`),
    '(.t.AddDate 0 1 -1)',
    '.t.Nope',
    '.t.Format',
    '(.t.Month 1)',
  ),
)

type Rules = {
  pipeline: string
  command: string
  operand: string
  typed: string
  list: string
  map: string
  string: string
  float: string
  int: string
}

const rules = fc.letrec<Rules>((tie) => {
  const operands = (minLength: number, maxLength: number): Rule =>
    fc.array(joined(space, tie('operand')), { minLength, maxLength }).map((all) => all.join(''))
  const call = (name: string, ...args: Rule[]): Rule =>
    joined(fc.constant(name), ...args.map((arg) => joined(space, arg)))
  const calls = (functions: string[], ...args: Rule[]): Rule =>
    joined(pick(...functions), ...args.map((arg) => joined(space, arg)))
  const ordered = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
  const [string, int, list, map] = [tie('string'), tie('int'), tie('list'), tie('map')]
  const printf = fc.tuple(format, operands(0, 3)).map(([directives, args]) => `printf ${directives}${args}`)
  /** Calls whose arguments have the expected types. */
  const typed = fc.oneof(
    { weight: 3, arbitrary: calls(ordered, tie('float'), tie('float')) },
    { weight: 2, arbitrary: calls(ordered, int, int) },
    { weight: 2, arbitrary: calls(ordered, string, string) },
    { weight: 2, arbitrary: calls(['len'], fc.oneof(list, map, string)) },
    { weight: 3, arbitrary: calls(['index'], list, pick('0', '0', '0', '1', '$i')) },
    { weight: 2, arbitrary: calls(['index'], map, string) },
    { weight: 2, arbitrary: calls(['index', 'slice'], string, pick('0', '1', '2', '3')) },
    { weight: 3, arbitrary: calls(['slice'], fc.oneof(list, string), pick('0', '1'), pick('1', '2', '3')) },
    {
      weight: 3,
      arbitrary: calls(['toUpper', 'toLower', 'env', 'html', 'js', 'urlquery', 'jsonEscape'], string),
    },
    {
      weight: 2,
      arbitrary: joined(
        pick('and', 'or', 'not', 'print', 'println', 'html', 'js', 'urlquery'),
        operands(1, 3),
      ),
    },
    { weight: 2, arbitrary: calls(['toJson', 'toString', 'jsonEscape', 'not'], tie('operand')) },
    { weight: 9, arbitrary: printf },
    { weight: 1, arbitrary: call('eq', tie('operand'), tie('operand'), tie('operand')) },
    { weight: 1, arbitrary: call('and', pick('true', 'false', '0'), fc.constant('($x := 5)')) },
  )
  const names = [
    'len',
    'now',
    'call',
    'eq',
    'printf',
    'print',
    'index',
    'slice',
    'and',
    'toUpper',
    'lt',
    'not',
    '.a',
    '$x',
    '.t.Format',
    '.t',
  ]
  const wild = joined(pick(...names), operands(0, 3))
  const stages = [
    'print',
    'len',
    'not',
    'toJson',
    'html',
    'printf "%v|%v" 1',
    'index .m',
    'and true',
    'toUpper',
    'print | len',
    'printf "%q"',
    'print "x"',
    'not | not',
    'html | print',
    'eq 1.0',
    '.a',
    'toString',
  ]
  return {
    pipeline: fc.oneof(
      { weight: 8, arbitrary: tie('command') },
      { weight: 2, arbitrary: joined(tie('command'), pick(' | ', '|'), fc.oneof(typed, pick(...stages))) },
      {
        weight: 1,
        arbitrary: joined(
          tie('command'),
          pick(' | ', '| '),
          pick(...stages),
          fc.constant(' | '),
          pick(...stages),
        ),
      },
    ),
    command: fc.oneof(
      { weight: 4, arbitrary: tie('operand') },
      { weight: 8, arbitrary: typed },
      { weight: 1, arbitrary: wild },
    ),
    operand: fc.oneof(
      { depthSize: 'small' },
      { weight: 10, arbitrary: pick('.a', '.b', '.m', '.l', '.s', '.n', '.z', '.') },
      { weight: 2, arbitrary: fields },
      { weight: 6, arbitrary: variable },
      { weight: 1, arbitrary: joined(variable, fields) },
      { weight: 7, arbitrary: constant },
      { weight: 7, arbitrary: quotedText },
      { weight: 2, arbitrary: pick('true', 'false', 'nil', 'now', '(nil)') },
      { weight: 2, arbitrary: time },
      { weight: 6, arbitrary: tie('pipeline').map((pipe) => `(${pipe})`) },
      {
        weight: 2,
        arbitrary: joined(
          tie('pipeline').map((pipe) => `(${pipe})`),
          fields,
        ),
      },
      { weight: 1, arbitrary: often('1', ...brokenConstants) },
    ),
    typed,
    list: fc.oneof(
      { depthSize: 'small' },
      pick('.l', '.l', '$y'),
      tie('list').map((inner) => `(slice ${inner} 0 1)`),
    ),
    map: fc.oneof(
      { depthSize: 'small' },
      pick('.m', '.', '$'),
      tie('map').map((inner) => `(index ${inner} "m")`),
    ),
    string: fc.oneof(
      { depthSize: 'small' },
      fc.constant('.s'),
      quotedText,
      tie('typed').map((inner) => `(print (${inner}))`),
    ),
    float: fc.oneof(fc.constant('.n'), float),
    int: fc.oneof(
      { depthSize: 'small' },
      integer,
      fc.constant('$i'),
      tie('list').map((inner) => `(len ${inner})`),
    ),
  }
})

export const { pipeline, command, operand } = rules
