import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findReservedKeyProblem } from './reserved-keys.pure.ts'

const problemOf = (Key: string, Value: string) => findReservedKeyProblem([{ Key, Value }])
const problemOfPins = (pins: unknown) => problemOf('pilets.pins', JSON.stringify(pins))
const problemOfVersion = (version: unknown) => problemOfPins({ menu: version })

const noObject =
  'pilets.pins must be a JSON object that maps pilet names to exact versions, such as {"@acme/menu": "1.2.3"}'
const noVersion = (name = 'menu') => `pilets.pins must map ${name} to an exact version such as "1.2.3"`
const noName = (name: string) => `pilets.pins contains ${JSON.stringify(name)}, which is not a package name`

describe('comms.enabled', () => {
  test('[settings.reserved-keys] is the text true or false and nothing else', () => {
    for (const value of ['true', 'false']) expect(problemOf('comms.enabled', value)).toBeNull()
    for (const value of [
      '',
      'True',
      'TRUE',
      'yes',
      '1',
      '0',
      'null',
      ' true',
      'true\n',
      '"true"',
      'true,false',
    ])
      expect(problemOf('comms.enabled', value)).toBe('comms.enabled must be "true" or "false"')
  })
})

describe('pilets.pins', () => {
  test('[settings.reserved-keys] maps package names, scoped or not, to exact versions', () => {
    for (const text of [
      '{}',
      ' { "menu" : "1.2.3" }\n',
      '{"menu": "0.0.0"}',
      '{"@acme/menu": "1.2.3", "@acme/cart": "10.20.30", "footer": "0.1.0-rc.1"}',
      '{"constructor": "1.0.0", "a.b_c~d-e": "1.0.0", "~x": "1.0.0", "7": "1.0.0"}',
    ])
      expect(problemOf('pilets.pins', text)).toBeNull()
    expect(
      problemOfPins(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, `${i}.0.0`]))),
    ).toBeNull()
  })

  test('[settings.reserved-keys] a text that is no JSON object is refused', () => {
    for (const text of [
      '',
      ' ',
      'null',
      'true',
      '1',
      '"1.2.3"',
      '[]',
      '["menu"]',
      '[{"menu": "1.2.3"}]',
      '{',
      '{menu: "1.2.3"}',
      "{'menu': '1.2.3'}",
      '{"menu": "1.2.3",}',
      '{"menu": "1.2.3"} {}',
      'menu@1.2.3',
      'undefined',
      '\u{feff}{}',
    ])
      expect(problemOf('pilets.pins', text)).toBe(noObject)
  })

  test('[settings.reserved-keys] pre-release and build metadata are part of an exact version', () => {
    for (const version of [
      '1.0.0-0',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-0.3.7',
      '1.0.0-x.7.z.92',
      '1.0.0-x-y-z.--',
      '1.0.0-0a',
      '1.0.0-00a',
      '1.0.0--',
      '1.0.0+1',
      '1.0.0+001',
      '1.0.0+20260101.sha-5114f85',
      '1.0.0-beta+exp.sha.5114f85',
      '1.0.0+21AF26D3---117B344092BD',
    ])
      expect(problemOfVersion(version)).toBeNull()
  })

  test('[settings.reserved-keys] ranges, tags, short versions, leading zeros and broken endings are no exact version', () => {
    for (const version of [
      '^1.0.0',
      '~1.0.0',
      '>=1.0.0',
      '=1.0.0',
      '1.x',
      '1.0.x',
      '*',
      '',
      'latest',
      '1.0.0 - 2.0.0',
      '1.0.0 || 2.0.0',
      '1',
      '1.0',
      '1.0.0.0',
      'v1.0.0',
      '01.0.0',
      '1.00.0',
      '1.0.01',
      '-1.0.0',
      '1.-0.0',
      '1.0.0-',
      '1.0.0-01',
      '1.0.0-a.01',
      '1.0.0-a..b',
      '1.0.0-a_b',
      '1.0.0+',
      '1.0.0+a..b',
      '1.0.0+a+b',
      '1.0.0-ä',
      '1.0.0\n',
      ' 1.0.0',
      '1.0.0 ',
      '１.0.0',
      '1e1.0.0',
    ])
      expect(problemOfVersion(version)).toBe(noVersion())
  })

  test('[settings.reserved-keys] a version is a text: nothing nested, no number, no null', () => {
    for (const version of [null, true, false, 1, 1.2, [], ['1.2.3'], {}, { version: '1.2.3' }, [[]]])
      expect(problemOfVersion(version)).toBe(noVersion())
    expect(problemOfPins({ '@acme/menu': '1.2.3', cart: '^1.2.3' })).toBe(noVersion('cart'))
  })

  test('[settings.reserved-keys] a version has at most 256 characters, a name at most 214', () => {
    const version = `1.0.0-${'a'.repeat(250)}`
    expect(problemOfVersion(version)).toBeNull()
    expect(problemOfVersion(`${version}a`)).toBe(noVersion())
    const name = 'a'.repeat(214)
    expect(problemOfPins({ [name]: '1.0.0' })).toBeNull()
    expect(problemOfPins({ [`${name}a`]: '1.0.0' })).toBe(noName(name))
  })

  test('[settings.reserved-keys] the text has at most 65,536 characters, and what is said of a wrong one is short', () => {
    const pins = (length: number) => `{"menu": "1.0.0"${' '.repeat(length - 17)}}`
    expect(pins(65_536)).toHaveLength(65_536)
    expect(problemOf('pilets.pins', pins(65_536))).toBeNull()
    const tooLong = 'pilets.pins must have at most 65536 characters'
    expect(problemOf('pilets.pins', pins(65_537))).toBe(tooLong)
    expect(problemOf('pilets.pins', 'x'.repeat(4_000_000))).toBe(tooLong)
    for (const pin of ['[', '{"a":'])
      expect(problemOf('pilets.pins', `{"menu": ${pin.repeat(10_000)}`)).toBe(noObject)
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    expect(problemOf('pilets.pins', `{"menu": ${deep}}`)).toBe(noVersion())
    expect(problemOfVersion('1'.repeat(60_000))).toBe(noVersion())
    expect(problemOfPins({ ['A'.repeat(60_000)]: '1.0.0' })).toBe(noName('A'.repeat(214)))
  })

  test('[settings.reserved-keys] what is no package name is refused, also what objects know by themselves', () => {
    for (const name of [
      '',
      ' ',
      'Menu',
      '.menu',
      '_menu',
      'me nu',
      'menu ',
      'menu\n',
      'menü',
      'a/b',
      '@acme',
      '@acme/',
      '@/menu',
      '@acme/a/b',
      '@Acme/menu',
      '@acme/.menu',
      '@@acme/menu',
      'menu@1.2.3',
      'https://example.com/menu.js',
      '../menu',
      'toString',
    ])
      expect(problemOfPins({ [name]: '1.0.0' })).toBe(noName(name))
    expect(problemOf('pilets.pins', '{"__proto__": "1.0.0"}')).toBe(noName('__proto__'))
    expect(problemOf('pilets.pins', '{"__proto__": {"polluted": true}}')).toBe(noName('__proto__'))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('[settings.reserved-keys] versions made of their parts pass, and with anything else in front do not', () => {
    const number = fc.nat({ max: 10_000 })
    const word = fc.stringMatching(/^[A-Za-z-][0-9A-Za-z-]{0,8}$/)
    const version = fc
      .tuple(number, number, number, fc.array(word, { maxLength: 3 }), fc.array(word, { maxLength: 3 }))
      .map(([major, minor, patch, pre, build]) =>
        [
          `${major}.${minor}.${patch}`,
          pre.length > 0 ? `-${pre.join('.')}` : '',
          build.length > 0 ? `+${build.join('.')}` : '',
        ].join(''),
      )
    fc.assert(
      fc.property(version, fc.constantFrom('^', '~', 'v', '=', '<', ' ', '0', 'x'), (text, prefix) => {
        expect(problemOfVersion(text)).toBeNull()
        expect(problemOfVersion(prefix + text)).toBe(noVersion())
      }),
    )
  })
})

describe('other keys', () => {
  test('[settings.reserved-keys] may hold anything, also those that resemble a reserved one', () => {
    for (const key of [
      'pilets.pin',
      'Pilets.Pins',
      'pilets.pins ',
      'pilets.pins.menu',
      'comms',
      'comms.Enabled',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
    ])
      expect(problemOf(key, 'anything {')).toBeNull()
    expect(findReservedKeyProblem([])).toBeNull()
  })

  test('[settings.reserved-keys] a reserved key is found wherever it stands among them', () => {
    const others = Array.from({ length: 50 }, (_, i) => ({ Key: `k${i}`, Value: '' }))
    const wrong = { Key: 'comms.enabled', Value: 'maybe' }
    for (const at of [0, 25, 50])
      expect(findReservedKeyProblem(others.toSpliced(at, 0, wrong))).toBe(
        'comms.enabled must be "true" or "false"',
      )
    const right = { Key: 'pilets.pins', Value: '{}' }
    expect(findReservedKeyProblem([right, ...others, wrong])).toBe('comms.enabled must be "true" or "false"')
    expect(findReservedKeyProblem([right, ...others])).toBeNull()
  })
})
