// Random data for templates: JSON values under names that the generated templates read.
import * as fc from 'fast-check'

/** Characters that printing or escaping treats specially. Even old Go versions know all of them. */
const characters = [
  ...Array.from('abcXYZ019 _-.,:;<>&"\'`\\/%$#{}()[]|=+*!?\n\t\r\0\x07\x1f\x7f'),
  '\u0080',
  '\u00a0',
  '\u00ad',
  'é',
  'ß',
  'Ω',
  'ñ',
  '日',
  '\u0301',
  '\u200b',
  '\u2028',
  '\ue000',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '😀',
  '𝒳',
  '\u{10ffff}',
  '\ud800',
  '\udc80',
]

/** Text that contains unusual characters. */
export const text: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('', 'a', 'abc', 'hello world', 'x=1', '<b>&', '10', '0', 'true', '%d', '%'),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...characters), { maxLength: 6 }).map((list) => list.join('')),
  },
)

/** Numbers on both sides of every threshold at which printing changes. */
export const number: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, -1, 2, 3, 10, 42, 100) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      0.5,
      1.5,
      2.5,
      0.125,
      0.1,
      -0.25,
      3.25,
      99999.5,
      999999,
      999999.5,
      1e6,
      1e7,
      123456789,
      1e20,
      1e21,
      1e22,
      0.0001,
      0.00001,
      0.000123,
      1e-7,
      1e100,
      -1e-100,
      5e-324,
      1.7976931348623157e308,
      9007199254740992,
      123456789012345680000,
      4294967296,
      0.3,
    ),
  },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.integer() },
)

/** Names that are valid as fields in templates. */
export const names = [
  'a',
  'b',
  'c',
  'm',
  'l',
  's',
  'n',
  'z',
  'constructor',
  '__proto__',
  'length',
  'toString',
  'é',
  '_x',
]
const oddNames = ['', '0', '10', '9', 'x y', 'k-1', 'a.b', 'B', 'ａ', '😀', '\ue000', '<', '"']

const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 3, arbitrary: number },
  { weight: 3, arbitrary: text },
)

const { value } = fc.letrec<{ value: unknown; list: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: scalar },
    { weight: 2, arbitrary: tie('list') },
    { weight: 3, arbitrary: tie('object') },
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc
    .array(fc.tuple(fc.constantFrom(...names, ...oddNames), tie('value')), { maxLength: 4 })
    .map((entries) => entriesToJson(entries)),
}))

/** Builds an object with JSON.parse, so that every name is an own property, including __proto__. */
function entriesToJson(entries: [string, unknown][]): unknown {
  const fields = new Map(entries.map(([key, field]) => [key, JSON.stringify(field)]))
  return JSON.parse(`{${Array.from(fields, ([key, field]) => `${JSON.stringify(key)}:${field}`).join(',')}}`)
}

/** Data for a template, usually with the names that the template is likely to read. */
export const data: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        a: value,
        b: value,
        m: fc.dictionary(fc.constantFrom(...names, ...oddNames), value, { maxKeys: 4 }),
        l: fc.array(value, { minLength: 1, maxLength: 4 }),
        s: text,
        n: number,
        z: fc.constantFrom(0, '', false, null, [], {}),
      })
      .map((record) => JSON.parse(JSON.stringify(record)) as unknown),
  },
  { weight: 1, arbitrary: value.map((random) => JSON.parse(JSON.stringify(random)) as unknown) },
)
