// These tests cover what the log shows for headers, URLs and bodies.
import { describe, expect, test } from 'vitest'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'

const secretKeys =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization'.split(
    ' ',
  )
const personalKeys = 'private_key credential credentials pin cvv card_number iban ssn'.split(' ')
const headerNames =
  'authorization proxy-authorization cookie set-cookie x-api-key x-auth-token x-proxy-auth X-Amz-Security-Token X-Client-Secret-Id X-New-Password X-Hub-Signature-256 Api-Key PIN'.split(
    ' ',
  )

const show = (body: string | Buffer, contentType: string | null = null, totalBytes?: number): string =>
  redactBody(Buffer.from(body as string), {
    totalBytes: totalBytes ?? Buffer.byteLength(body),
    contentType,
    contentEncoding: null,
  })
const headerOf = (name: string, value: string) => redactHeaders([name, value])[0]?.value

/** Checks every position in which a body, a query or a header can contain the key. */
function expectHidden(key: string): void {
  const spellings = [
    key,
    key.toUpperCase(),
    key.replaceAll('_', '-'),
    key.replaceAll(/_(.)/g, (_, c: string) => c.toUpperCase()),
  ]
  for (const spelling of spellings) {
    expect(show(`{"user":"a","${spelling}":"s3cr3t"}`)).toBe(`{"user":"a","${spelling}":"[REDACTED]"}`)
    expect(show(`[{"a":{"${spelling}": [1, {"b": 2}]}}]`)).toBe(`[{"a":{"${spelling}": "[REDACTED]"}}]`)
    expect(show(`<a><${spelling}>s3<b/>cr3t</${spelling}></a>`)).toBe(
      `<a><${spelling}>[REDACTED]</${spelling}></a>`,
    )
    expect(show(`<x:a y:${spelling}='s3cr3t' b="c"/>`)).toBe(`<x:a y:${spelling}='[REDACTED]' b="c"/>`)
    expect(show(`user=a&${spelling}=s3cr3t&b=c`)).toBe(`user=a&${spelling}=[REDACTED]&b=c`)
    expect(show(`user[${spelling}]=s3cr3t&b=c`)).toBe(`user[${spelling}]=[REDACTED]&b=c`)
    expect(redactUrl(`/path?${spelling}=s3cr3t&b=c`)).toBe(`/path?${spelling}=[REDACTED]&b=c`)
    expect(headerOf(spelling, 's3cr3t')).toBe('[REDACTED]')
  }
}

test.each(secretKeys)(
  '[esb-audit.redact-secrets] %s is hidden in JSON, XML, forms, queries and headers',
  (key) => {
    expectHidden(key)
  },
)

test.each(personalKeys)(
  '[esb-audit.redact-personal] %s is hidden in JSON, XML, forms, queries and headers',
  (key) => {
    expectHidden(key)
  },
)

describe('headers', () => {
  test.each(headerNames)('[esb-audit.redact-headers] the value of %s is hidden', (name) => {
    expect(redactHeaders(['accept', 'text/html', name, 's3cr3t', 'x-note', 'kept'])).toEqual([
      { name: 'accept', value: 'text/html' },
      { name, value: '[REDACTED]' },
      { name: 'x-note', value: 'kept' },
    ])
  })

  test('[esb-audit.redact-scope] what stands in the value of another header is hidden there', () => {
    for (const [value, shown] of [
      ['https://h/p?token=s3cr3t&b=c#d', 'https://h/p?token=[REDACTED]&b=c#d'],
      ['/p?a=b&api_key=s3cr3t', '/p?a=b&api_key=[REDACTED]'],
      ['https://user:s3cr3t@h/p?a=b', 'https://[REDACTED]@h/p?a=b'],
      ['{"password":"s3cr3t","a":1}', '{"password":"[REDACTED]","a":1}'],
      // Any other text is redacted completely.
      ['<https://h/p?token=s3cr3t&page=2>; rel="next"', '[REDACTED]'],
      ['</p?page=2&pin=s3cr3t>; rel=next', '[REDACTED]'],
      ['0; url=https://user:s3cr3t@h/p', '[REDACTED]'],
      ['Bearer s3cr3t', '[REDACTED]'],
      ['basic czNjcjN0', '[REDACTED]'],
    ] as const)
      expect(headerOf('x-note', value)).toBe(shown)
  })

  test('[esb-audit.redact-headers] headers that carry no secret stay as they are', () => {
    const raw = Object.entries({
      Date: 'Tue, 15 Nov 1994 08:12:31 GMT',
      ETag: '"abc:def"',
      'Cache-Control': 'max-age=60, private',
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)',
      'Content-Type': 'multipart/form-data; boundary="=_x"',
      Forwarded: 'for=192.0.2.1;proto=http',
      'WWW-Authenticate': 'Bearer realm="a", error="invalid_grant"',
    }).flat()
    expect(redactHeaders(raw).flatMap(({ name, value }) => [name, value])).toEqual(raw)
  })
})

test('[esb-audit.redact-headers] what PostgreSQL cannot store is replaced', () => {
  const shown = '\ufffd\ufffdx'
  expect(redactHeaders(['x\0', '\0\ud83dx'])).toEqual([{ name: 'x\ufffd', value: shown }])
  expect(redactUrl('/\0\ud83dx?a=\0\ud83dx')).toBe(`/${shown}?a=${shown}`)
  // The stored part ends in the middle of a character.
  const text = `${'🙂pin=1&'.repeat(4_000)}a`
  for (const body of [text, `x${text}`]) expect(show(body).isWellFormed()).toBe(true)
})

describe('addresses', () => {
  test('[esb-audit.redact-scope] only sensitive values of query and fragment are replaced', () => {
    for (const [url, shown] of [
      ['https://h/a/b', 'https://h/a/b'],
      ['https://h/token/1?user=a', 'https://h/token/1?user=a'],
      ['https://h/?pass%77ord=s3cr3t&a=%20', 'https://h/?pass%77ord=[REDACTED]&a=%20'],
      ['/cb#access_token=s3cr3t&state=1', '/cb#access_token=[REDACTED]&state=1'],
      ['/p?a=1;token=s3cr3t&b=2', '/p?a=[REDACTED]&b=2'],
      [
        '/p?to=https%3A%2F%2Fh%2F%3Ftoken%3Ds3cr3t%26b%3D2',
        '/p?to=https%3A%2F%2Fh%2F%3Ftoken%3D[REDACTED]%26b%3D2',
      ],
      ['https://user:s3cr3t@h/', 'https://[REDACTED]@h/'],
      ['/p?token', '/p?token'],
      ['', ''],
    ] as const)
      expect(redactUrl(url)).toBe(shown)
  })
})

describe('bodies that are not shown', () => {
  test('binary is a length: encoded, not UTF-8, with control characters, or in an unknown charset', () => {
    const encoded = { totalBytes: 2, contentType: 'application/json', contentEncoding: 'gzip' }
    expect(redactBody(Buffer.from('{}'), encoded)).toBe('[binary, 2 bytes]')
    expect(redactBody(Buffer.from('{}'), { ...encoded, contentEncoding: 'identity' })).toBe('{}')
    expect(show(Buffer.from([0x7b, 0xff, 0xfe]), null, 12_345)).toBe('[binary, 12345 bytes]')
    expect(show('a\0b')).toBe('[binary, 3 bytes]')
    expect(show('{"a":1}', 'application/json; charset=utf-7')).toBe('[binary, 7 bytes]')
    expect(show('')).toBe('')
  })

  test('a declared charset is read, and a wrong one hides nothing from the search for secrets', () => {
    const text = '{"password":"s3cr3t","a":"é"}'
    const shown = '{"password":"[REDACTED]","a":"é"}'
    expect(show(Buffer.from(text, 'latin1'), 'application/json; charset=ISO-8859-1')).toBe(shown)
    expect(show(Buffer.from(text, 'utf16le'), 'application/json; charset=utf-16le')).toBe(shown)
    expect(show(text, 'application/json; charset=utf-16le')).toBe(shown)
    expect(show(Buffer.from(`${text}é`, 'latin1'), 'text/plain; charset=utf-16le')).toBe('[binary, 30 bytes]')
    const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é<pin>1</pin></a>'
    expect(show(Buffer.from(xml, 'latin1'))).toBe(xml.replace('1</pin>', '[REDACTED]</pin>'))
  })

  test('a cut body says how much is shown, and ends with its last complete value', () => {
    expect(show('{"a":"b","c":{"d":[1, 2, 3', null, 100)).toBe(
      '{"a":"b","c":{"d":[1, 2 [truncated: 26 of 100 bytes]',
    )
    expect(show('{"a":1,"password":{"b":"s3c","c":2,', null, 100)).toBe(
      '{"a":1,"password":"[REDACTED]" [truncated: 35 of 100 bytes]',
    )
    expect(show('<a><b>c</b><pin>1<d/>2', null, 100)).toBe(
      '<a><b>c</b><pin>[REDACTED] [truncated: 22 of 100 bytes]',
    )
    expect(show('a=b&pin=1&c=d', null, 100)).toBe('a=b&pin=[REDACTED] [truncated: 13 of 100 bytes]')
    // A truncated last character does not make the body binary.
    expect(show(Buffer.from('{"a":1,"b":"é').subarray(0, 13), null, 100)).toBe(
      '{"a":1 [truncated: 13 of 100 bytes]',
    )
    expect(show(Buffer.from('{"a":"é').subarray(0, 7))).toBe('[binary, 7 bytes]')
  })

  test('a cut body without a complete value is a type and a length', () => {
    for (const text of ['{"a":"b', '{"password":"s3c', '<a b="c', 'a=b', '[1'])
      expect(show(text, 'Application/JSON; charset=utf-8', 100)).toBe('[application/json, 100 bytes]')
  })

  test('text that is not JSON, XML or a form is a type and a length', () => {
    for (const text of [
      'Dear all,\nmeet at 10:30: a < b && c > d; 50% off!\nhttps://h/p?q=1#x\n',
      '<!doctype html><html><p>One<br>Two<ul><li>a<li>b</ul></html>',
      'name,city\nAnn,Bern\n',
      '{broken: [json',
      '"text" and more',
      '[12:00] started',
      '/p?a=b',
      'aGVsbG8=',
      'czNjcjN0czNjcjN0==',
    ]) {
      expect(show(text)).toBe(`[text, ${text.length} bytes]`)
      expect(show(text, 'text/plain; charset=utf-8')).toBe(`[text/plain, ${text.length} bytes]`)
      expect(show(text, 'a secret: s3cr3t')).toBe(`[text, ${text.length} bytes]`)
    }
  })
})

describe('bodies of several parts', () => {
  const part = (head: string, content: string): string => `--x\r\n${head}\r\n\r\n${content}\r\n`
  const field = (name: string, content: string): string =>
    part(`Content-Disposition: form-data; name=${name}`, content)
  const type = 'multipart/form-data; boundary=x'

  test('[esb-audit.redact-scope] parts are hidden by their names, files are a length, others are looked into', () => {
    const body = [
      field('"user"', 'kept'),
      field('"pass%77ord"', 's3cr3t'),
      field('"a"; name="user[pin]"', 's3cr3t'),
      field('token', 's3cr3t'),
      field('"f"; filename="a.txt"', 's3cr3t'),
      field('"json"', '{"iban":"s3cr3t","a":1}'),
      part('Content-Type: application/xml\r\nX-Auth-Token: s3cr3t', '<a><pin>s3cr3t</pin></a>'),
      part('Content-Transfer-Encoding: base64', 'czNjcjN0'),
      '--x--\r\nepilogue s3cr3t',
    ]
    const shown = [
      field('"user"', 'kept'),
      field('"pass%77ord"', '[REDACTED]'),
      field('"a"; name="user[pin]"', '[REDACTED]'),
      field('token', '[REDACTED]'),
      field('"f"; filename="a.txt"', '[file, 6 bytes]'),
      field('"json"', '{"iban":"[REDACTED]","a":1}'),
      part('Content-Type: application/xml\r\nX-Auth-Token: [REDACTED]', '<a><pin>[REDACTED]</pin></a>'),
      part('Content-Transfer-Encoding: base64', '[binary, 8 bytes]'),
      '--x--\r\n[REDACTED]',
    ]
    expect(show(body.join(''), type)).toBe(shown.join(''))
    expect(show(body.join(''), 'application/json')).toBe(shown.join(''))
    expect(show(`--x\r\nno head s3cr3t\r\n--x--`, type)).toBe('--x\r\n[REDACTED]--x--')
    expect(show(`preamble s3cr3t\r\n--x\r\nno head s3cr3t\r\n--x--`, type)).toBe(
      '[multipart/form-data, 43 bytes]',
    )
  })

  test('[esb-audit.redact-scope] a head shows plain names, and headers without secrets', () => {
    const named = 'Content-Disposition: form-data; name="x"'
    const hidden = 'Content-Disposition: [REDACTED]'
    for (const [head, shown] of [
      [`${named}\r\nAuthorization : Bearer s3cr3t`, `${named}\r\n[REDACTED]`],
      [`${named}\r\npassword=s3cr3t`, `${named}\r\n[REDACTED]`],
      [`${named}\r\n X-Key: s3cr3t`, hidden],
      [`${named}; password="s3cr3t"`, hidden],
      [`${named}; x="; filename=s3cr3t"`, hidden],
      ['Content-Disposition: form-data; name="token=s3cr3t"', hidden],
      [`${named}; filename="a b.txt"`, `${named}; filename="a b.txt"`],
    ] as const) {
      const text = show(part(named, 'kept') + part(head, 'x') + '--x--', type)
      expect(text).toContain(part(shown, '').trimEnd())
      expect(text).toContain('kept')
      expect(text).not.toContain('s3cr3t')
    }
    const split = part('Content-Disposition: form-data; name*0="pass"; name*1="word"', 's3cr3t')
    expect(show(`${split}--x--`, type)).toBe(`${part(hidden, '[REDACTED]')}--x--`)
  })

  test('[esb-audit.redact-scope] a part with a type is shown like a body, and one without like the value of a form', () => {
    const typed = (content: string): string => part('Content-Type: text/plain', content)
    const body = [typed('kept'), typed('{"pin":1}'), field('"a"', 'pin: 1'), field('"b"', 'a: kept'), '--x--']
    expect(show(body.join(''), type)).toBe(
      [
        typed('[text/plain, 4 bytes]'),
        typed('{"pin":"[REDACTED]"}'),
        field('"a"', '[REDACTED]'),
        field('"b"', 'a: kept'),
        '--x--',
      ].join(''),
    )
    expect(show(typed('kept') + field('"b"', 'kept').trimEnd(), type, 1_000)).toBe(
      `${typed('[text/plain, 4 bytes]')}${field('"b"', '[text, 4 bytes and more]').trimEnd()} [truncated: 92 of 1000 bytes]`,
    )
  })

  test('[esb-audit.redact-scope] parts in parts in parts are hidden', () => {
    const inside = (content: string, name: string): string =>
      `--${name}\r\nContent-Type: multipart/mixed\r\n\r\n${content}\r\n--${name}--`
    const secret = field('"user[password]"', 's3cr3t')
    for (const names of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']])
      expect(show(names.reduce(inside, secret))).not.toContain('s3cr3t')
  })

  test('[esb-audit.redact-scope] binary parts are a length, and a file that is cut says so', () => {
    const binary = Buffer.from([0, 1, 0xff])
    const file = 'Content-Disposition: form-data; name="f"; filename="f"'
    const body = Buffer.concat([
      Buffer.from(`--x\r\n\r\n`),
      binary,
      Buffer.from(`\r\n--x\r\n${file}\r\n\r\n`),
      binary,
    ])
    expect(show(body, type, 1_000)).toBe(
      `--x\r\n\r\n[binary, 3 bytes]\r\n--x\r\n${file}\r\n\r\n[file, 3 bytes and more] [truncated: ${body.length} of 1000 bytes]`,
    )
  })

  test('[esb-audit.redact-scope] a boundary that is declared for something else divides nothing', () => {
    const body = '{"password":\n"a s3cr3t",\n"b":\n["\\n--x\\n"]}'
    expect(show(body, 'application/json; boundary=x')).toBe(
      '{"password":\n"[REDACTED]",\n"b":\n["\\n--x\\n"]}',
    )
    expect(show('{"password":"a\n--x\n\nb s3cr3t"}', 'application/json; boundary=x')).toBe(
      '[application/json, 30 bytes]',
    )
  })
})

describe('texts inside of texts', () => {
  test('[esb-audit.redact-scope] are written again where something in them is replaced, and stay where nothing is', () => {
    for (const [text, shown] of [
      ['{"a":"{\\"pin\\":\\u0031,\\"b\\":2}"}', '{"a":"{\\"pin\\":\\"[REDACTED]\\",\\"b\\":2}"}'],
      ['{"a":"{\\"b\\":\\u0031}","c":"\\u0041"}', '{"a":"{\\"b\\":\\u0031}","c":"\\u0041"}'],
      ['a=%7b%22pin%22:1}&c=%20', 'a=%7B%22pin%22%3A%22[REDACTED]%22%7D&c=%20'],
      [
        "<a b='{&#34;pin&#34;:1}' c='&#34;'>{&#x22;pin&#34;:1}</a>",
        '<a b=\'{&quot;pin&quot;:&quot;[REDACTED]&quot;}\' c=\'&#34;\'>{"pin":"[REDACTED]"}</a>',
      ],
      ['<a>&lt;b>&lt;!-- c -->d&lt;/b></a>', '<a>&lt;b&gt;&lt;!-- --&gt;d&lt;/b&gt;</a>'],
      ['{"a":"x=1&token=2&y=\\u0033"}', '{"a":"x=1&token=[REDACTED]&y=3"}'],
    ] as const)
      expect(show(text)).toBe(shown)
  })
})

describe('bodies without secrets', () => {
  test('[esb-audit.redact-scope] stay as they are, to the last byte', () => {
    for (const text of [
      '{"a" : [1, -2.5e3, true, null, "x\\u0041\\n"], "tokens": 3, "pinned": {"b":{}}}\r\n',
      '{"a":1.0,"b":12345678901234567890,"a":2,"é":"🙂\\ud83d\\ude42\\ud83d"}',
      '\ufeff<?xml version="1.0"?>\n<!DOCTYPE html>\n<a b=\'c\'><![CDATA[<x>]]>&amp;<d/></a>',
      'a=b&c=%C3%A9+d&e[]=f&g',
      '{"when":"2026-01-01T10:00:00Z","url":"https://h/?a=b","note":"a: b = c","csv":"a,b\\n1,2"}',
      '{"a":1}\n{"a":2}\n\x1e{"a":3}\n',
      '"text"',
    ])
      expect(show(text)).toBe(text)
  })
})

describe('JSON', () => {
  test('[esb-audit.redact-scope] places are exact beside any characters and escapes', () => {
    const strings = [
      '"é"',
      '"🙂"',
      '"\\ud83d\\ude42"',
      '"\\ud83d"',
      '"\\udc00x"',
      '"\\ud83d\\u0041"',
      '"\\"\\\\\\/\\n"',
    ]
    for (const other of [...strings, '-0', '1.5E+3', '0.10', 'true', 'false', 'null', '{}', '[ ]', ' 1 '])
      for (const secret of [...strings, '-1', '0', 'true', 'false', 'null', '{ }', '[1]'])
        expect(show(`[${other},{"pin":${secret} ,"b": ${other}}]`)).toBe(
          `[${other},{"pin":"[REDACTED]" ,"b": ${other}}]`,
        )
  })

  test('[esb-audit.redact-scope] everything else is a type and a length', () => {
    for (const text of [
      '{"a":1,}',
      '[1,]',
      '[,1]',
      '[1 2]',
      '{"a"}',
      '{"a":}',
      '{"a" 1}',
      '{1:2}',
      '{,}',
      '{]',
      '[}',
      '[1}',
      '{"a":[1}]',
      ']',
      '[1]]',
      '{"a":01}',
      '{"a":NaN}',
      '["\\x"]',
      '["\t"]',
      '[tru]',
      '["a"',
      '{"a":1',
      '"a',
      '"a":1',
      '"a",1',
    ])
      expect(show(text)).toBe(`[text, ${text.length} bytes]`)
  })
})

describe('64 KiB of what is hard to read', () => {
  const size = 65_536
  const of = (unit: string): string => unit.repeat(size / unit.length)

  test('is shown in at most about twice its length', () => {
    for (const unit of ['pin=1&', '{"pin":1}', '<pin>1</pin>', 'pin:1\n', 'Basic a '])
      expect(show(of(unit)).length).toBeLessThan(2 * size + 1_100)
  })
})
