import { describe, expect, test } from 'vitest'
import { XmlProblem, type XmlValue, convertXmlToMap } from './xml-map.pure.ts'

/** Converts maps to plain objects for comparison. */
const plain = (value: XmlValue): unknown => {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(plain)
  return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
}
const read = (text: string): unknown => plain(convertXmlToMap(text))

describe('XML as a map', () => {
  test('[esb-templates.xml-map] the root is on top, attributes have a hyphen, repeats are a list, values are texts', () => {
    expect(
      read('<order id="7"><item>tea</item><item n="2">milk</item><total>12.50</total><note/></order>'),
    ).toEqual({
      order: { '-id': '7', item: ['tea', { '-n': '2', '#text': 'milk' }], total: '12.50', note: '' },
    })
    expect(read('<a>1</a>')).toEqual({ a: '1' })
    expect(read('<a>  </a>')).toEqual({ a: '' })
    expect(read('<a><b/><b/><b/></a>')).toEqual({ a: { b: ['', '', ''] } })
  })

  test('[esb-templates.xml-map] text beside elements is #text, CDATA and entities are text', () => {
    expect(read('<p>Dear <b>Ada</b>, hello</p>')).toEqual({ p: { b: 'Ada', '#text': 'Dear , hello' } })
    expect(read('<p><![CDATA[<raw> & ]]>&lt;&#65;&#x42;</p>')).toEqual({ p: '<raw> & <AB' })
  })

  test('[esb-templates.xml-map] prefixes and namespace declarations are dropped', () => {
    expect(
      read(
        '<soap:Envelope xmlns:soap="urn:s" xmlns="urn:d"><soap:Body x:id="1" xmlns:x="urn:x"><m/></soap:Body></soap:Envelope>',
      ),
    ).toEqual({ Envelope: { Body: { '-id': '1', m: '' } } })
  })

  test('names of JavaScript are names like others', () => {
    const map = convertXmlToMap('<__proto__ constructor="c"><toString>t</toString></__proto__>')
    expect(plain(map.get('__proto__') as XmlValue)).toEqual({ '-constructor': 'c', toString: 't' })
    expect(({} as Record<string, unknown>)['toString']).toBeTypeOf('function')
  })

  test('what is no XML, a DOCTYPE, or too much of it is refused quickly and says where', () => {
    const bomb = `<!DOCTYPE a [<!ENTITY a "x">]><a>&a;</a>`
    const cases: [string, RegExp][] = [
      ['', /./],
      ['text', /./],
      ['<a>', /./],
      ['<a></b>', /./],
      ['<a b="1" b="2"/>', /./],
      ['<a>&unknown;</a>', /./],
      ['<a/><b/>', /./],
      [bomb, /DOCTYPE/],
      ['<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /DOCTYPE/],
      ['<a>'.repeat(65) + '</a>'.repeat(65), /more than 64 levels deep/],
      [`<a>${'<b/>'.repeat(50_000)}</a>`, /more than 50000 elements/],
      [`<a ${Array.from({ length: 129 }, (_, n) => `x${n}="1"`).join(' ')}/>`, /more than 128 attributes/],
    ]
    for (const [text, message] of cases) {
      expect(() => convertXmlToMap(text)).toThrow(XmlProblem)
      expect(() => convertXmlToMap(text)).toThrow(message)
      expect(() => convertXmlToMap(text)).toThrow(/line \d+, column \d+/)
    }
    expect(read('<a>'.repeat(64) + '</a>'.repeat(64))).toBeTypeOf('object')
  })

  test('a bomb is refused where it begins, not where it ends', () => {
    const long = 1_000_000
    const cases: [string, RegExp][] = [
      [`<!DOCTYPE a [${'<!ENTITY b "&a;&a;">'.repeat(long)}]><a/>`, /DOCTYPE .*\(line 1, column 1\)/],
      [
        `<?xml version="1.0"?>\n<!-- <a> -->\n <!DOCTYPE a [${' '.repeat(long)}`,
        /DOCTYPE .*\(line 3, column 2\)/,
      ],
      ['<!--><!DOCTYPE a>--><a><![CDATA[<!DOCTYPE a>]]>', /unclosed tag/],
      [
        `<a ${Array.from({ length: long }, (_, n) => `x${n}=""`).join(' ')}/>`,
        /128 attributes \(line 1, column \d{3,4}\)/,
      ],
      ['<a>'.repeat(long), /64 levels deep \(line 1, column \d{3}\)/],
    ]
    for (const [text, message] of cases) expect(() => convertXmlToMap(text)).toThrow(message)
    expect(convertXmlToMap(`<a>${'<b c="1"/>'.repeat(200)}</a>`).size).toBe(1)
  })
})
